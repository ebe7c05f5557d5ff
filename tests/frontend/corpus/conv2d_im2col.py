# forward(x: float32[2, 3, 8, 8], w: float32[4, 3, 3, 3], b: float32[4])
import numpy as np


def im2col(x, kh, kw, stride=1, pad=0):
    n, c, h, w = x.shape
    oh = (h + 2 * pad - kh) // stride + 1
    ow = (w + 2 * pad - kw) // stride + 1
    img = np.pad(x, [(0, 0), (0, 0), (pad, pad), (pad, pad)], "constant")
    col = np.zeros((n, c, kh, kw, oh, ow), dtype=x.dtype)
    for i in range(kh):
        i_max = i + stride * oh
        for j in range(kw):
            j_max = j + stride * ow
            col[:, :, i, j, :, :] = img[:, :, i:i_max:stride, j:j_max:stride]
    return col.transpose(0, 4, 5, 1, 2, 3).reshape(n * oh * ow, -1), oh, ow


def forward(x, w, b, stride=2, pad=1):
    fn, c, kh, kw = w.shape
    col, oh, ow = im2col(x, kh, kw, stride, pad)
    out = col @ w.reshape(fn, -1).T + b
    out = out.reshape(x.shape[0], oh, ow, -1).transpose(0, 3, 1, 2)
    out = np.maximum(out, 0)
    return out.reshape(out.shape[0], -1)
