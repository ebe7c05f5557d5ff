import numpy as np


def get_windows(x, k, stride=1, pad=0):
    if pad:
        x = np.pad(x, ((0, 0), (0, 0), (pad, pad), (pad, pad)))
    n, c, h, w = x.shape
    oh, ow = (h - k) // stride + 1, (w - k) // stride + 1
    s = x.strides
    return np.lib.stride_tricks.as_strided(
        x, (n, c, oh, ow, k, k), (s[0], s[1], s[2] * stride, s[3] * stride, s[2], s[3])
    )


class Conv2D:
    def __init__(self, in_ch, out_ch, k=3, pad=1):
        self.k, self.pad = k, pad
        self.w = np.random.randn(out_ch, in_ch, k, k).astype(np.float32) * np.sqrt(2.0 / (in_ch * k * k))
        self.b = np.zeros(out_ch, np.float32)

    def __call__(self, x):
        win = get_windows(x, self.k, pad=self.pad)
        return np.einsum("nchwij,ocij->nohw", win, self.w) + self.b[None, :, None, None]


class MaxPool:
    def __call__(self, x):
        n, c, h, w = x.shape
        return x.reshape(n, c, h // 2, 2, w // 2, 2).max(axis=(3, 5))


def relu(x):
    return np.maximum(0, x)


np.random.seed(42)
x = np.random.rand(2, 1, 8, 8).astype(np.float32)
model = [Conv2D(1, 4), relu, MaxPool(), Conv2D(4, 8), relu, MaxPool()]
for i, layer in enumerate(model):
    x = layer(x)
    print(i, type(layer).__name__, x.shape, x.dtype, f"{x.mean():.4f}")
features = x.reshape(x.shape[0], -1)
logits = features @ np.random.randn(features.shape[1], 3).astype(np.float32)
probs = np.exp(logits - logits.max(1, keepdims=True))
probs /= probs.sum(1, keepdims=True)
print(np.argmax(probs, 1), probs.sum(1).round(5))
