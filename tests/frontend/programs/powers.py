import numpy as np
x = np.array([1, 2, 3])
print(x**2, x**3, x**-1.0, 2**x, x**x, np.power(x, 0.5), (x > 1)**2, 2.0**x, x.astype(np.float32)**2, (-8) ** (1.0), 0**0, 4**0.5)
