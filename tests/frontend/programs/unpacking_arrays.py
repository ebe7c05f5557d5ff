import numpy as np
a, b = np.arange(4).reshape(2, 2)
(c, d), e = a, b
print(a, b, c, d, e)
h, w = np.ones((3, 5)).shape
print(h * w, [*np.arange(3)], *np.arange(2))
