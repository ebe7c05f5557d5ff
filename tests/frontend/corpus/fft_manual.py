import numpy as np
def dft(x):
    N = len(x)
    n = np.arange(N)
    M = np.exp(-2j * np.pi * n[:, None] * n / N)
    return M @ x
x = np.sin(2 * np.pi * np.arange(16) / 16)
print(np.round(np.abs(dft(x)), 6))
