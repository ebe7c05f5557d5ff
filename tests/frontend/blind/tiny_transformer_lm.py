"""A tiny decoder-only transformer over characters; untrained weights, greedy generation."""
from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np


class CharTokenizer:
    def __init__(self, corpus: str):
        self.vocab = sorted(set(corpus))
        self._ids = {c: i for i, c in enumerate(self.vocab)}

    def encode(self, s: str) -> list[int]:
        return [self._ids[c] for c in s]

    def decode(self, ids) -> str:
        return "".join(self.vocab[int(i)] for i in ids)

    def __len__(self):
        return len(self.vocab)


@dataclass(frozen=True)
class Config:
    vocab: int
    dim: int = 16
    heads: int = 4
    layers: int = 2
    context: int = 12

    @property
    def head_dim(self) -> int:
        return self.dim // self.heads


@dataclass
class Block:
    wq: np.ndarray
    wk: np.ndarray
    wv: np.ndarray
    wo: np.ndarray
    w1: np.ndarray
    w2: np.ndarray
    g1: np.ndarray = field(default_factory=lambda: np.ones(16))
    g2: np.ndarray = field(default_factory=lambda: np.ones(16))

    @classmethod
    def random(cls, cfg: Config, rng: np.random.Generator) -> Block:
        d = cfg.dim
        mk = lambda *s: rng.standard_normal(s) / np.sqrt(s[0])
        return cls(mk(d, d), mk(d, d), mk(d, d), mk(d, d), mk(d, 4 * d), mk(4 * d, d))


def rms_norm(x, g):
    return x * g / np.sqrt(np.mean(x * x, axis=-1, keepdims=True) + 1e-6)


def gelu(x):
    return 0.5 * x * (1 + np.tanh(np.sqrt(2 / np.pi) * (x + 0.044715 * x**3)))


def softmax(x):
    e = np.exp(x - x.max(-1, keepdims=True))
    return e / e.sum(-1, keepdims=True)


def attention(x, b: Block, cfg: Config):
    T = x.shape[0]
    q, k, v = ((x @ w).reshape(T, cfg.heads, cfg.head_dim).transpose(1, 0, 2) for w in (b.wq, b.wk, b.wv))
    att = q @ k.swapaxes(-1, -2) / np.sqrt(cfg.head_dim)
    att = np.where(np.tril(np.ones((T, T), bool)), att, -1e9)
    return (softmax(att) @ v).transpose(1, 0, 2).reshape(T, -1) @ b.wo


class Model:
    def __init__(self, cfg: Config, seed: int = 0):
        rng = np.random.default_rng(seed)
        self.cfg = cfg
        self.emb = rng.standard_normal((cfg.vocab, cfg.dim)) * 0.5
        self.pos = rng.standard_normal((cfg.context, cfg.dim)) * 0.1
        self.blocks = [Block.random(cfg, rng) for _ in range(cfg.layers)]

    def __call__(self, ids):
        x = self.emb[ids] + self.pos[: len(ids)]
        for b in self.blocks:
            x = x + attention(rms_norm(x, b.g1), b, self.cfg)
            x = x + gelu(rms_norm(x, b.g2) @ b.w1) @ b.w2
        return x @ self.emb.T

    def generate(self, ids, n):
        ids = list(ids)
        for _ in range(n):
            logits = self(ids[-self.cfg.context:])[-1]
            ids.append(np.argmax(logits))
        return ids


tok = CharTokenizer("to be or not to be, that is the question")
model = Model(Config(vocab=len(tok)))
start = tok.encode("to be")
print("vocabulary", len(tok), "".join(tok.vocab))
logits = model(start)
print(logits.shape, logits[-1, :4].round(4))
nll = -np.log(softmax(logits[:-1])[np.arange(len(start) - 1), start[1:]]).mean()
print(f"loss {nll:.4f}")
print(repr(tok.decode(model.generate(start, 10))))
