import numpy as np
x = np.zeros((0, 3))
print(x, x.sum(), x.sum(axis=0), x.shape, np.concatenate([x, np.ones((1, 3))]), (x + 1).shape, np.prod(x), np.all(x), np.any(x))
print(np.arange(0), np.array([]), np.array([[]]).shape, np.ones((2, 0)) @ np.ones((0, 2)))
