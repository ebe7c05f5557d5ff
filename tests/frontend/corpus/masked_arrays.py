import numpy as np

data = np.array([3.0, -999.0, 4.5, 6.0, -999.0, 2.5])
m = np.ma.masked_equal(data, -999.0)
print(m.mean(), m.count())
print(m.filled(0.0))
