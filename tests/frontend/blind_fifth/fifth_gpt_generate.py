"""A tiny decoder that generates greedily, with classes and a KV cache."""
from __future__ import annotations
import numpy as np


class Module:
    def __call__(self, *args, **kwargs):
        return self.forward(*args, **kwargs)

    def parameters(self):
        for v in vars(self).values():
            if isinstance(v, np.ndarray):
                yield v
            elif isinstance(v, Module):
                yield from v.parameters()
            elif isinstance(v, (list, tuple)):
                for m in v:
                    if isinstance(m, Module):
                        yield from m.parameters()


class Linear(Module):
    def __init__(self, n_in, n_out, rng, bias=True):
        self.W = rng.standard_normal((n_in, n_out), dtype=np.float32) / np.sqrt(n_in, dtype=np.float32)
        self.b = np.zeros(n_out, np.float32) if bias else None

    def forward(self, x):
        y = x @ self.W
        return y if self.b is None else y + self.b


class LayerNorm(Module):
    def __init__(self, d, eps=1e-5):
        self.g, self.b, self.eps = np.ones(d, np.float32), np.zeros(d, np.float32), eps

    def forward(self, x):
        m = x.mean(-1, keepdims=True)
        v = ((x - m) ** 2).mean(-1, keepdims=True)
        return self.g * (x - m) / np.sqrt(v + self.eps) + self.b


class Attention(Module):
    def __init__(self, d, h, rng):
        self.h = h
        self.qkv = Linear(d, 3 * d, rng)
        self.proj = Linear(d, d, rng)

    def forward(self, x, cache: dict | None = None):
        T, d = x.shape
        q, k, v = np.split(self.qkv(x), 3, axis=-1)
        if cache is not None:
            if "k" in cache:
                k = np.concatenate([cache["k"], k])
                v = np.concatenate([cache["v"], v])
            cache.update(k=k, v=v)
        S = k.shape[0]
        q, k, v = [a.reshape(-1, self.h, d // self.h).transpose(1, 0, 2) for a in (q, k, v)]
        s = q @ k.transpose(0, 2, 1) / np.sqrt(d // self.h).astype(np.float32)
        mask = np.triu(np.ones((T, S), dtype=bool), k=S - T + 1)
        s = np.where(mask, np.float32(-1e9), s)
        e = np.exp(s - s.max(-1, keepdims=True))
        p = e / e.sum(-1, keepdims=True)
        return self.proj((p @ v).transpose(1, 0, 2).reshape(T, d))


class Block(Module):
    def __init__(self, d, h, rng):
        self.ln1, self.ln2 = LayerNorm(d), LayerNorm(d)
        self.attn = Attention(d, h, rng)
        self.mlp = [Linear(d, 4 * d, rng), Linear(4 * d, d, rng)]

    def forward(self, x, cache=None):
        x = x + self.attn(self.ln1(x), cache=cache)
        up, down = self.mlp
        return x + down(np.maximum(up(self.ln2(x)), 0))


class GPT(Module):
    def __init__(self, vocab=27, d=16, h=4, layers=2, ctx=16, seed=0):
        rng = np.random.default_rng(seed)
        self.wte = rng.standard_normal((vocab, d)).astype("f4")
        self.wpe = 0.1 * rng.standard_normal((ctx, d)).astype("f4")
        self.blocks = [Block(d, h, rng) for _ in range(layers)]
        self.ln_f = LayerNorm(d)

    def forward(self, ids, caches=None, start=0):
        x = self.wte[ids] + self.wpe[start:start + len(ids)]
        for i, b in enumerate(self.blocks):
            x = b(x, cache=None if caches is None else caches[i])
        return self.ln_f(x) @ self.wte.T

    def generate(self, ids, n):
        ids = list(ids)
        caches = [{} for _ in self.blocks]
        logits = self(np.array(ids), caches)
        for _ in range(n):
            nxt = int(np.argmax(logits[-1]))
            ids.append(nxt)
            logits = self(np.array([nxt]), caches, start=len(ids) - 1)
        return ids


if __name__ == "__main__":
    model = GPT()
    print("params:", sum(p.size for p in model.parameters()))
    out = model.generate([1, 2, 3], 8)
    print("cached  :", out)
    ids = [1, 2, 3]
    while len(ids) < 11:
        ids.append(int(model(np.array(ids))[-1].argmax()))
    print("uncached:", ids)
    print("".join(chr(ord("a") + i) if i < 26 else "." for i in out))
