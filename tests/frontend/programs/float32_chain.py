import numpy as np
rng = np.random.default_rng(2)
x = rng.standard_normal((4, 8), dtype=np.float32)
w = rng.standard_normal((8, 3)).astype(np.float32) * np.float32(0.1)
y = x @ w
y = np.exp(y) / np.exp(y).sum(-1, keepdims=True)
print(y, y.dtype, y.var(axis=0), (y * 0.5).dtype, y.argmax(-1))
