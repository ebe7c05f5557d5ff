import numpy as np
a, b = np.arange(6).reshape(2, 3), np.ones((2, 3))
print(np.concatenate([a, b]), np.concatenate((a, b), axis=1), np.concatenate([a, a], axis=None))
print(np.hstack([a, b]), np.vstack([a, b]), np.stack([a, b]), np.stack([a, b], axis=-1).shape, np.hstack([a[0], b[0]]))
print(np.vstack([a[0], b[0]]), np.column_stack([a[:, 0], b]), np.stack([a[0, 0], a[1, 1]]), np.array([a, a]).shape, np.hstack((1, 2.5)))
