import numpy as np
x = np.arange(3.0)
s = x[1]
print(s, s + 1, s * np.float32(2), x * s, -s, s == 1, s > 0.5, np.float32(3) / 2, np.int64(7) // 2, np.float64(1) / 3)
print(np.sqrt(2), np.exp(1), np.maximum(3, 4), np.add(1, 2), np.pi, np.e, -np.inf, np.float32(np.pi))
print(x.max() - x.min(), x.sum() / len(x), x[0] + x[-1], float(3), int(2.9), bool(0), np.sum(x) * 2)
