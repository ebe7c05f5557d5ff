import numpy as np
x = np.arange(-4, 5)
print(x // 2, x % 3, x * 2, x / 2, x**2, -x, abs(x), x > 0, x == 0, x != 1, (x > 0) & (x < 3), (x < 0) | (x > 3), ~(x > 0), (x > 0) ^ (x < 2))
print(x.dtype, (x / 2).dtype, (x > 0).dtype, x.sum().dtype, np.mean(x).dtype, np.float32(1).dtype, x.astype(np.int8).dtype)
print(np.where(x > 0, x, 0), np.where(x > 0, 1.5, x), np.where(x > 0, 1, 0).dtype, np.where(x, 1.0, 2.0), np.sign(x), np.maximum(x, 2))
