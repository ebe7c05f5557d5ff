import numpy as np
x = np.arange(12).reshape(3, 4).astype(float).T.copy().reshape(2, -1).sum(axis=1).mean()
print(x, np.arange(3).reshape(1, 3).repeat(2, axis=0).ravel().max(), np.ones(2).tolist() if False else [1.0, 1.0])
