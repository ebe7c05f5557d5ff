# step(x: float32[1, 16], k_cache: float32[6, 16], v_cache: float32[6, 16], wq: float32[16, 16], wk: float32[16, 16], wv: float32[16, 16], wo: float32[16, 16])
from functools import partial
import numpy as np

N_HEAD = 4


def softmax(x, axis=-1):
    x = x - x.max(axis=axis, keepdims=True)
    np.exp(x, out=x)
    x /= x.sum(axis=axis, keepdims=True)
    return x


def split_heads(x, n):
    t, d = x.shape
    return x.reshape(t, n, d // n).swapaxes(0, 1)


def rotate_half(x):
    a, b = np.split(x, 2, axis=-1)
    return np.concatenate((-b, a), axis=-1)


def rope(x, positions, theta=10000.0):
    d = x.shape[-1]
    inv = 1.0 / theta ** (np.arange(0, d, 2, dtype=np.float32) / d)
    ang = np.outer(positions, inv).astype(np.float32)
    emb = np.concatenate([ang, ang], axis=-1)
    return x * np.cos(emb) + rotate_half(x) * np.sin(emb)


heads = partial(split_heads, n=N_HEAD)


def step(x, k_cache, v_cache, wq, wk, wv, wo):
    past = k_cache.shape[0]
    q, k, v = (x @ w for w in (wq, wk, wv))
    q = rope(heads(q), np.array([past]))
    k_all = np.append(k_cache, k, axis=0)
    v_all = np.append(v_cache, v, axis=0)
    kh = rope(heads(k_all), np.arange(past + 1))
    att = softmax(np.einsum("hqd,hkd->hqk", q, kh) / np.float32(np.sqrt(q.shape[-1])))
    ctx = np.einsum("hqk,hkd->qhd", att, heads(v_all)).reshape(1, -1)
    y = x + ctx @ wo
    y = y / np.sqrt(np.mean(np.square(y), -1, keepdims=True) + 1e-6)
    return y.astype(np.float32), k_all, v_all
