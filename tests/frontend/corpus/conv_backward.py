# train_step(x: float32[4, 1, 8, 8], w1: float32[3, 1, 3, 3], b1: float32[3], w2: float32[27, 5], y: int64[4] index)
import numpy as np


def im2col(x, kh, kw):
    n, c, h, w = x.shape
    win = np.lib.stride_tricks.sliding_window_view(x, (kh, kw), axis=(2, 3))
    return win.transpose(0, 2, 3, 1, 4, 5).reshape(n, (h - kh + 1) * (w - kw + 1), -1)


def conv_forward(x, w, b):
    f, c, kh, kw = w.shape
    n, _, h, wd = x.shape
    cols = im2col(x, kh, kw)
    out = cols @ w.reshape(f, -1).T + b
    return out.transpose(0, 2, 1).reshape(n, f, h - kh + 1, wd - kw + 1), cols


def maxpool2(x):
    n, c, h, w = x.shape
    r = x.reshape(n, c, h // 2, 2, w // 2, 2)
    out = r.max(axis=(3, 5))
    mask = r == out[:, :, :, None, :, None]
    return out, mask


def train_step(x, w1, b1, w2, y, lr=0.1):
    a, cols = conv_forward(x, w1, b1)
    r = np.maximum(a, 0)
    p, mask = maxpool2(r)
    flat = p.reshape(len(x), -1)
    logits = flat @ w2
    logits -= logits.max(axis=1, keepdims=True)
    probs = np.exp(logits)
    probs /= probs.sum(axis=1, keepdims=True)
    loss = -np.log(probs[np.arange(len(y)), y % 5]).mean()
    d = probs.copy()
    d[range(len(y)), y % 5] -= 1
    d /= len(y)
    dw2 = flat.T @ d
    dp = (d @ w2.T).reshape(p.shape)
    dr = (mask * dp[:, :, :, None, :, None]).reshape(r.shape)
    da = dr * (a > 0)
    da_cols = da.reshape(*da.shape[:2], -1).transpose(0, 2, 1)
    dw1 = np.tensordot(da_cols, cols, axes=([0, 1], [0, 1])).reshape(w1.shape)
    db1 = da.sum((0, 2, 3))
    w1 -= lr * dw1
    b1 -= lr * db1
    w2 = w2 - lr * dw2
    return loss, w1, b1, w2
