import numpy as np

np.random.seed(0)


def softmax(x, axis=-1):
    e = np.exp(x - np.max(x, axis=axis, keepdims=True))
    return e / np.sum(e, axis=axis, keepdims=True)


def layer_norm(x, g, b, eps=1e-5):
    mean = x.mean(-1, keepdims=True)
    var = x.var(-1, keepdims=True)
    return g * (x - mean) / np.sqrt(var + eps) + b


class MultiHeadAttention:
    def __init__(self, d_model, n_heads):
        assert d_model % n_heads == 0
        self.h = n_heads
        self.d = d_model // n_heads
        scale = 1 / np.sqrt(d_model)
        self.W = {name: np.random.randn(d_model, d_model) * scale for name in ("q", "k", "v", "o")}

    def split(self, x):
        T, D = x.shape
        return x.reshape(T, self.h, self.d).transpose(1, 0, 2)

    def __call__(self, x, causal=True):
        T, D = x.shape
        q, k, v = (self.split(x @ self.W[n]) for n in "qkv")
        scores = q @ k.transpose(0, 2, 1) / np.sqrt(self.d)
        if causal:
            mask = np.triu(np.full((T, T), -np.inf), k=1)
            scores = scores + mask
        w = softmax(scores)
        out = (w @ v).transpose(1, 0, 2).reshape(T, D)
        return out @ self.W["o"], w


x = np.random.randn(6, 16)
g, b = np.ones(16), np.zeros(16)
mha = MultiHeadAttention(16, 4)
out, weights = mha(layer_norm(x, g, b))
y = x + out
print(y.shape, weights.shape)
print(np.allclose(weights.sum(axis=-1), 1.0))
print("upper triangle is zero:", np.all(weights[:, np.triu_indices(6, 1)[0], np.triu_indices(6, 1)[1]] == 0))
print(np.array2string(y[0, :4], precision=4))
