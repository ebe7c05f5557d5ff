import numpy as np
x = np.linspace(-2, 1, 30); y = np.linspace(-1, 1, 12)
c = x[None, :] + 1j * y[:, None]
z = np.zeros_like(c); n = np.zeros(c.shape, int)
for i in range(20):
    mask = np.abs(z) <= 2
    z[mask] = z[mask] ** 2 + c[mask]
    n += mask
print(n)
