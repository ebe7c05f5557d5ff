import numpy as np
x = np.linspace(-1, 2, 12).reshape(3, 4)
print(np.sum(x), x.sum(axis=0), x.sum(axis=(0, 1)), x.sum(axis=-1, keepdims=True))
print(x.mean(), np.mean(x, axis=1), x.var(axis=0), np.std(x, axis=1, keepdims=True), x.std(), np.var(x, axis=0, ddof=1), x.std(ddof=1))
print(x.max(), x.min(axis=1), np.prod(x, axis=0), np.ptp(x), np.argmax(x, axis=1), x.argmin(axis=0), np.argmin(x))
print(np.any(x > 1.9), np.all(x > -2), (x > 0).any(axis=0), (x > 0).all(axis=1), np.cumsum(x), x.cumsum(axis=1), np.count_nonzero(x > 0))
print(np.sum(x > 0), np.sum([1, 2, 3]), np.max([3, 5]), np.mean([1, 2]), sum(x), max(3, 1), min([4, 2]), np.linalg.norm(x, axis=1))
