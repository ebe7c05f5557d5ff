import numpy as np
np.random.seed(0)
n = 1000
x, y = np.random.uniform(-1, 1, n), np.random.uniform(-1, 1, n)
inside = x**2 + y**2 <= 1
print("pi ~ {:.4f}".format(4 * inside.sum() / n))
