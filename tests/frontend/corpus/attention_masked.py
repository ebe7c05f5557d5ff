import numpy as np
def softmax(x, axis=-1):
    e = np.exp(x - x.max(axis=axis, keepdims=True))
    return e / e.sum(axis=axis, keepdims=True)
class MHA:
    def __init__(self, d, h, rng):
        self.h, self.dk = h, d // h
        self.Wq, self.Wk, self.Wv, self.Wo = (rng.standard_normal((d, d)) / np.sqrt(d) for _ in range(4))
    def __call__(self, x, mask=None):
        B, T, D = x.shape
        def split(y): return y.reshape(B, T, self.h, self.dk).transpose(0, 2, 1, 3)
        q, k, v = split(x @ self.Wq), split(x @ self.Wk), split(x @ self.Wv)
        s = q @ k.swapaxes(-1, -2) / np.sqrt(self.dk)
        if mask is not None:
            s = np.where(mask, s, -1e9)
        return (softmax(s) @ v).transpose(0, 2, 1, 3).reshape(B, T, D) @ self.Wo
rng = np.random.default_rng(0)
att = MHA(8, 2, rng)
print(att(rng.standard_normal((2, 5, 8)), np.tril(np.ones((5, 5), bool))).round(4)[0])
