# mha(x: float32[2, 6, 16], wqkv: float32[16, 48], wo: float32[16, 16], pad: int64[2] index)
import numpy as np


def alibi_slopes(n):
    start = 2 ** (-(2 ** -(np.log2(n) - 3)))
    return np.array([start * start**i for i in range(n)], dtype=np.float32)


def grouped(x, groups):
    return np.repeat(x, groups, axis=1)


def mha(x, wqkv, wo, pad, *, heads=4, kv_heads=2, window=3):
    B, T, D = x.shape
    hd = D // heads
    qkv = np.einsum("btd,de->bte", x, wqkv)
    q, k, v = np.split(qkv, [D, D + kv_heads * hd], axis=-1)
    v = v[..., : kv_heads * hd]
    q = q.reshape(B, T, heads, hd).transpose(0, 2, 1, 3)
    k = k.reshape(B, T, kv_heads, hd).transpose(0, 2, 1, 3)
    v = v.reshape(B, T, kv_heads, hd).transpose(0, 2, 1, 3)
    k, v = grouped(k, heads // kv_heads), grouped(v, heads // kv_heads)
    s = np.matmul(q, k.swapaxes(-1, -2)) * hd**-0.5
    i, j = np.arange(T)[:, None], np.arange(T)
    s = s + alibi_slopes(heads)[:, None, None] * (j - i)
    lengths = pad % 3 + T - 2
    ok = (j <= i) & (i - j < window) & (j < lengths[:, None, None, None])
    s = np.where(ok, s, -np.inf)
    s = s - np.max(s, axis=-1, keepdims=True, where=ok, initial=-1e30)
    p = np.exp(s, where=ok, out=np.zeros_like(s))
    z = p.sum(-1, keepdims=True)
    p = np.divide(p, z, out=np.zeros_like(p), where=z > 0)
    o = (p @ v).transpose(0, 2, 1, 3).reshape(B, T, D)
    h = o @ wo
    gate, up = np.array_split(h, 2, axis=-1)
    return h, gate / (1 + np.exp(-gate)) * up, p.astype(np.float16)
