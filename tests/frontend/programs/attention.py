import numpy as np

def softmax(x):
    e = np.exp(x - np.max(x, axis=-1, keepdims=True))
    return e / np.sum(e, axis=-1, keepdims=True)

def attention(q, k, v, mask):
    return softmax(q @ k.T / np.sqrt(q.shape[-1]) + mask) @ v

rng = np.random.default_rng(0)
x = rng.standard_normal((5, 12))
qkv = np.split(np.hstack([x, x * 2, x * 3]), 3, axis=-1)
heads = list(map(lambda t: np.split(t, 3, axis=-1), qkv))
mask = (1 - np.tri(5)) * -1e10
out = np.hstack([attention(q, k, v, mask) for q, k, v in zip(*heads)])
print(out)
