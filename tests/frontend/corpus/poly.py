import numpy as np
p = np.polyfit(np.arange(6.), np.arange(6.) ** 2 + 1, 2)
print(np.round(p, 6), np.polyval([1, 2, 3], 2))
