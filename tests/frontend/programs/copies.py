import numpy as np
a = np.arange(4)
b = a.copy()
b[0] = 9
c = np.array(a)
c[1] = 8
d = a.astype(float)
d[2] = 7.5
e = a.flatten()
e[3] = 6
print(a, b, c, d, e)
