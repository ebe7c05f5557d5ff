# forward(img: uint8[2, 12, 12, 3], stem: float32[3, 8], dw: float32[3, 3, 8], gamma: float32[8], beta: float32[8], pw: float32[8, 16], s1: float32[16, 4], s2: float32[4, 16], fc: float32[16, 10])
"""A quantised depthwise separable CNN as one function (what one would deploy)."""
import numpy as np

EPS = np.float32(1e-3)


def depthwise(x, k, stride=1):
    n, h, w, c = x.shape
    p = np.pad(x, ((0, 0), (1, 1), (1, 1), (0, 0)))
    out = 0
    for i in range(3):
        for j in range(3):
            out = out + p[:, i:i + h:1, j:j + w:1, :] * k[i, j]
    return out[:, ::stride, ::stride]


def bn(x, g, b, m, v):
    return (x - m) * (g / np.sqrt(v + EPS)) + b


def relu6(x):
    return np.minimum(np.maximum(x, 0), np.float32(6))


def hardswish(x):
    return x * relu6(x + 3) / 6


def se(x, w1, w2):
    s = x.mean(axis=(1, 2))
    s = np.maximum(s @ w1, 0) @ w2
    return x * (relu6(s + 3) / 6)[:, None, None, :]


def forward(
    img: "uint8[N, 12, 12, 3]",
    stem: "float32[3, 8]",
    dw: "float32[3, 3, 8]",
    gamma: "float32[8]",
    beta: "float32[8]",
    pw: "float32[8, 16]",
    s1: "float32[16, 4]",
    s2: "float32[4, 16]",
    fc: "float32[16, 10]",
):
    x = img.astype(np.float32) / np.float32(127.5) - 1
    x = hardswish(x @ stem)
    x = depthwise(x, dw, stride=2)
    x = relu6(bn(x, gamma, beta, np.float32(0), np.float32(1)))
    x = x @ pw
    x = se(x, s1, s2)
    x = x.mean((1, 2)) @ fc
    x = x - x.max(-1, keepdims=True)
    e = np.exp(x)
    p = e / e.sum(-1, keepdims=True)
    top = np.argsort(-p, axis=-1)[:, :3]
    return {"prob": p, "top": top, "conf": np.take_along_axis(p, top, axis=-1)}
