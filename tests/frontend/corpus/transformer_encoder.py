# encode(tokens: int64[2, 6] index)
import numpy as np

rng = np.random.default_rng(1)
D, HEADS, FF, VOCAB = 16, 4, 32, 20
params = {
    "emb": rng.standard_normal((VOCAB, D)) * 0.02,
    "blocks": [
        {
            "qkv": rng.standard_normal((D, 3 * D)) / np.sqrt(D),
            "proj": rng.standard_normal((D, D)) / np.sqrt(D),
            "ff1": rng.standard_normal((D, FF)) / np.sqrt(D),
            "ff2": rng.standard_normal((FF, D)) / np.sqrt(FF),
        }
        for _ in range(2)
    ],
}


def positional(n, d):
    pos = np.arange(n)[:, np.newaxis]
    i = np.arange(d)[np.newaxis, :]
    angle = pos / np.power(10000, (2 * (i // 2)) / d)
    pe = np.zeros((n, d))
    pe[:, 0::2] = np.sin(angle[:, 0::2])
    pe[:, 1::2] = np.cos(angle[:, 1::2])
    return pe


def layer_norm(x, eps=1e-5):
    return (x - x.mean(-1, keepdims=True)) / np.sqrt(x.var(-1, keepdims=True) + eps)


def gelu(x):
    return 0.5 * x * (1 + np.tanh(np.sqrt(2 / np.pi) * (x + 0.044715 * x**3)))


def softmax(x, axis=-1):
    e = np.exp(x - np.max(x, axis=axis, keepdims=True))
    return e / np.sum(e, axis=axis, keepdims=True)


def mha(x, qkv, proj):
    b, n, d = x.shape
    q, k, v = np.split(x @ qkv, 3, axis=-1)
    heads = lambda t: t.reshape(b, n, HEADS, d // HEADS).transpose(0, 2, 1, 3)
    q, k, v = map(heads, (q, k, v))
    att = np.einsum("bhqd,bhkd->bhqk", q, k) / np.sqrt(d // HEADS)
    out = np.einsum("bhqk,bhkd->bhqd", softmax(att), v)
    return out.transpose(0, 2, 1, 3).reshape(b, n, d) @ proj


def encode(tokens):
    x = params["emb"][tokens] + positional(tokens.shape[1], D)
    for p in params["blocks"]:
        x = x + mha(layer_norm(x), p["qkv"], p["proj"])
        x = x + gelu(layer_norm(x) @ p["ff1"]) @ p["ff2"]
    pooled = layer_norm(x).mean(axis=1)
    return pooled / np.linalg.norm(pooled, axis=-1, keepdims=True)
