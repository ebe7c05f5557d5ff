import numpy as np
from numpy.lib.stride_tricks import sliding_window_view, as_strided

x = np.arange(20.0)
w = sliding_window_view(x, 5)
print(w.mean(axis=-1))
img = np.arange(36).reshape(6, 6)
p = sliding_window_view(img, (3, 3))
print(p.shape, p[::2, ::2].sum(axis=(2, 3)))
blocks = as_strided(img, shape=(3, 3, 2, 2), strides=(img.strides[0] * 2, img.strides[1] * 2, *img.strides))
print(blocks.max(axis=(2, 3)))
print(np.median(p.reshape(16, 9), axis=1))
k = np.array([[0, 1, 0], [1, -4, 1], [0, 1, 0]])
print(np.einsum("ijkl,kl->ij", p, k))
