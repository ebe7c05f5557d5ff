import numpy as np
from math import sqrt

class Config:
    d_model = 16
    n_head = 4
    n_layer = 2
    vocab = 11
    max_len = 32

def softmax(x, axis=-1):
    x = x - np.max(x, axis=axis, keepdims=True)
    e = np.exp(x)
    return e / np.sum(e, axis=axis, keepdims=True)

class RMSNorm:
    def __init__(self, d, eps=1e-6): self.w, self.eps = np.ones(d, np.float32), eps
    def __call__(self, x): return x * self.w / np.sqrt((x * x).mean(-1, keepdims=True) + self.eps)

def rope(x, pos):
    d = x.shape[-1]
    f = 1.0 / 10000 ** (np.arange(0, d, 2, dtype=np.float32) / d)
    a = np.outer(pos, f)
    c, s = np.cos(a)[:, None, :], np.sin(a)[:, None, :]
    x1, x2 = x[..., ::2], x[..., 1::2]
    return np.stack([x1 * c - x2 * s, x1 * s + x2 * c], axis=-1).reshape(x.shape)

class Attention:
    def __init__(self, cfg, rng):
        d = cfg.d_model
        self.h, self.hd = cfg.n_head, d // cfg.n_head
        self.wq, self.wk, self.wv, self.wo = (rng.standard_normal((d, d)).astype(np.float32) / sqrt(d) for _ in range(4))
        self.k = np.empty((0, self.h, self.hd), np.float32)
        self.v = np.empty((0, self.h, self.hd), np.float32)
    def __call__(self, x, start):
        T = x.shape[0]
        pos = np.arange(start, start + T)
        q, k, v = ((x @ w).reshape(T, self.h, self.hd) for w in (self.wq, self.wk, self.wv))
        q, k = rope(q, pos), rope(k, pos)
        self.k = np.concatenate([self.k, k]); self.v = np.concatenate([self.v, v])
        s = np.einsum("thd,shd->hts", q, self.k) / sqrt(self.hd)
        mask = np.triu(np.full((T, len(self.k)), -np.inf, np.float32), k=1 + start)
        o = np.einsum("hts,shd->thd", softmax(s + mask), self.v)
        return o.reshape(T, -1) @ self.wo

class Model:
    def __init__(self, cfg, seed=0):
        rng = np.random.default_rng(seed)
        self.emb = rng.standard_normal((cfg.vocab, cfg.d_model)).astype(np.float32)
        self.layers = [(RMSNorm(cfg.d_model), Attention(cfg, rng)) for _ in range(cfg.n_layer)]
        self.norm = RMSNorm(cfg.d_model)
        self.pos = 0
    def forward(self, ids):
        x = self.emb[ids]
        for norm, attn in self.layers:
            x = x + attn(norm(x), self.pos)
        self.pos += len(ids)
        return self.norm(x) @ self.emb.T

m = Model(Config)
toks = [1, 5, 3]
logits = m.forward(np.array(toks))
for _ in range(6):
    nxt = int(logits[-1].argmax())
    toks.append(nxt)
    logits = m.forward(np.array([nxt]))
print(toks)
m2 = Model(Config)
full = m2.forward(np.array(toks))
print(np.allclose(full[-1], logits[-1], atol=1e-3), full.dtype)
