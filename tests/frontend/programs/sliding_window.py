import numpy as np
x = np.arange(10.0)
windows = np.stack([x[i:i + 3] for i in range(0, len(x) - 2, 2)])
print(windows, windows.mean(axis=1), [w.tolist() for w in np.arange(4).reshape(2, 2)] if False else windows.shape[::-1])
