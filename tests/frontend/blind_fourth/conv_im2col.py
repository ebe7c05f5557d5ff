import numpy as np


def im2col(x, kh, kw, stride=1, pad=0):
    n, c, h, w = x.shape
    oh = (h + 2 * pad - kh) // stride + 1
    ow = (w + 2 * pad - kw) // stride + 1
    img = np.pad(x, [(0, 0), (0, 0), (pad, pad), (pad, pad)], "constant")
    col = np.zeros((n, c, kh, kw, oh, ow), dtype=x.dtype)
    for y in range(kh):
        ymax = y + stride * oh
        for xx in range(kw):
            xmax = xx + stride * ow
            col[:, :, y, xx, :, :] = img[:, :, y:ymax:stride, xx:xmax:stride]
    return col.transpose(0, 4, 5, 1, 2, 3).reshape(n * oh * ow, -1), oh, ow


def col2im(col, shape, kh, kw, stride, pad, oh, ow):
    n, c, h, w = shape
    col = col.reshape(n, oh, ow, c, kh, kw).transpose(0, 3, 4, 5, 1, 2)
    img = np.zeros((n, c, h + 2 * pad + stride - 1, w + 2 * pad + stride - 1), col.dtype)
    for y in range(kh):
        for x in range(kw):
            img[:, :, y:y + stride * oh:stride, x:x + stride * ow:stride] += col[:, :, y, x]
    return img[:, :, pad:h + pad, pad:w + pad]


class Conv:
    def __init__(self, W, b, stride=1, pad=0):
        self.W, self.b, self.stride, self.pad = W, b, stride, pad

    def forward(self, x):
        f, c, kh, kw = self.W.shape
        col, oh, ow = im2col(x, kh, kw, self.stride, self.pad)
        self.cache = x.shape, col, oh, ow
        out = col @ self.W.reshape(f, -1).T + self.b
        return out.reshape(len(x), oh, ow, -1).transpose(0, 3, 1, 2)

    def backward(self, d):
        f, c, kh, kw = self.W.shape
        shape, col, oh, ow = self.cache
        d2 = d.transpose(0, 2, 3, 1).reshape(-1, f)
        self.db = d2.sum(0)
        self.dW = (col.T @ d2).T.reshape(self.W.shape)
        return col2im(d2 @ self.W.reshape(f, -1), shape, kh, kw, self.stride, self.pad, oh, ow)


def maxpool(x, s=2):
    n, c, h, w = x.shape
    return x[:, :, :h // s * s, :w // s * s].reshape(n, c, h // s, s, w // s, s).max(axis=(3, 5))


def batchnorm(x, gamma, beta, eps=1e-5):
    mu, var = x.mean((0, 2, 3), keepdims=True), x.var((0, 2, 3), keepdims=True)
    return gamma.reshape(1, -1, 1, 1) * (x - mu) / np.sqrt(var + eps) + beta[None, :, None, None]


rng = np.random.default_rng(8)
x = rng.standard_normal((2, 3, 9, 9)).astype(np.float32)
conv = Conv((rng.standard_normal((4, 3, 3, 3)) * 0.1).astype(np.float32), np.zeros(4, np.float32), 2, 1)
y = conv.forward(x)
dx = conv.backward(np.ones_like(y))
num = np.zeros(3)
for i in range(3):
    e = np.zeros_like(x, dtype=np.float64)
    e[0, i, 4, 4] = 1e-3
    num[i] = (conv.forward(x + e).sum() - conv.forward(x - e).sum()) / 2e-3
conv.forward(x)
print(y.shape, np.allclose(num, dx[0, :, 4, 4], atol=1e-2))
z = np.maximum(batchnorm(y, np.ones(4), np.zeros(4)), 0)
print(maxpool(z).shape, f"{maxpool(z).sum():.4f}")
