import numpy as np
X, Y = np.meshgrid(np.linspace(-1, 1, 5), np.linspace(-1, 1, 4))
Z = np.exp(-(X**2 + Y**2))
gy, gx = np.gradient(Z)
print(Z.shape, gx[0], np.unravel_index(np.argmax(Z), Z.shape))
