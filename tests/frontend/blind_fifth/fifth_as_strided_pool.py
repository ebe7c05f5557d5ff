import numpy as np
from numpy.lib.stride_tricks import as_strided


def pool2d(A, kernel_size, stride, padding=0, pool_mode="max"):
    """2D pooling as posted on Stack Overflow."""
    A = np.pad(A, padding, mode="constant")
    output_shape = ((A.shape[0] - kernel_size) // stride + 1,
                    (A.shape[1] - kernel_size) // stride + 1)
    shape_w = (output_shape[0], output_shape[1], kernel_size, kernel_size)
    strides_w = (stride * A.strides[0], stride * A.strides[1], A.strides[0], A.strides[1])
    A_w = as_strided(A, shape_w, strides_w)
    if pool_mode == "max":
        return A_w.max(axis=(2, 3))
    elif pool_mode == "avg":
        return A_w.mean(axis=(2, 3))
    raise ValueError(pool_mode)


def conv2d(a, f):
    s = f.shape + tuple(np.subtract(a.shape, f.shape) + 1)
    subM = as_strided(a, shape=s, strides=a.strides * 2)
    return np.einsum("ij,ijkl->kl", f, subM)


def rolling(a, window):
    shape = a.shape[:-1] + (a.shape[-1] - window + 1, window)
    strides = a.strides + (a.strides[-1],)
    return np.lib.stride_tricks.as_strided(a, shape=shape, strides=strides)


A = np.array([[1, 1, 2, 4], [5, 6, 7, 8], [3, 2, 1, 0], [1, 2, 3, 4]])
print(pool2d(A, kernel_size=2, stride=2, padding=0, pool_mode="max"))
print(pool2d(A.astype(float), 2, 1, 1, "avg"))
img = np.arange(25, dtype=np.float32).reshape(5, 5)
print(conv2d(img, np.ones((3, 3), dtype=np.float32)))
x = np.arange(10.0) ** 2
print(rolling(x, 4).mean(-1))
print(rolling(x[::2], 2).std(axis=-1))
