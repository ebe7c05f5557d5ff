import numpy as np
x = np.linspace(-2, 2, 8).astype(np.float16)
print(x * 2, x.sum(), x.mean(), np.exp(x), x @ x, x.astype(np.float32) / 3, np.tanh(x), x.max())
