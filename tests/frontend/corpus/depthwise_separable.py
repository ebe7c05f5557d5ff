# block(x: float32[1, 8, 10, 10])
import numpy as np
from numpy.lib.stride_tricks import sliding_window_view


def block(x):
    rng = np.random.default_rng(5)
    dw = rng.standard_normal((8, 3, 3), dtype=np.float32)
    pw = rng.standard_normal((16, 8), dtype=np.float32)
    xp = np.pad(x, ((0, 0), (0, 0), (1, 1), (1, 1)))
    win = sliding_window_view(xp, (3, 3), axis=(2, 3))
    y = np.einsum("nchwij,cij->nchw", win, dw)
    mean = y.mean(axis=(0, 2, 3), keepdims=True)
    var = y.var(axis=(0, 2, 3), keepdims=True)
    y = (y - mean) / np.sqrt(var + 1e-5)
    y = np.clip(y, 0, 6)
    z = np.tensordot(y, pw, axes=([1], [1])).transpose(0, 3, 1, 2)
    return z.mean(axis=(2, 3))
