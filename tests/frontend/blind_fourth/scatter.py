"""Graph neural network message passing with ufunc.at."""
import numpy as np

rng = np.random.default_rng(5)
num_nodes, feat = 10, 4
src = rng.integers(0, num_nodes, 30)
dst = rng.integers(0, num_nodes, 30)
x = rng.standard_normal((num_nodes, feat))
W = rng.standard_normal((feat, feat)) / 2


def segment_sum(data, index, n):
    out = np.zeros((n,) + data.shape[1:], dtype=data.dtype)
    np.add.at(out, index, data)
    return out


def segment_max(data, index, n):
    out = np.full((n,) + data.shape[1:], -np.inf)
    np.maximum.at(out, index, data)
    out[np.isneginf(out)] = 0
    return out


def segment_softmax(score, index, n):
    m = segment_max(score, index, n)
    e = np.exp(score - m[index])
    return e / (segment_sum(e, index, n)[index] + 1e-16)


deg = np.bincount(dst, minlength=num_nodes)
norm = 1 / np.sqrt(np.maximum(deg, 1))
h = x
for layer in range(2):
    msg = (h @ W)[src] * (norm[src] * norm[dst])[:, None]
    h = np.tanh(segment_sum(msg, dst, num_nodes) + h)
att = segment_softmax((h[src] * h[dst]).sum(-1), dst, num_nodes)
pooled = segment_sum(att[:, None] * h[src], dst, num_nodes)
print(np.round(pooled, 4))
order = np.argsort(dst, kind="stable")
s = dst[order]
starts = np.flatnonzero(np.r_[True, s[1:] != s[:-1]])
sums = np.add.reduceat(att[order], starts)
print(np.allclose(sums, 1))
u, inv, cnt = np.unique(dst, return_inverse=True, return_counts=True)
print(u, cnt, inv[:5])
adj = np.zeros((num_nodes, num_nodes), bool)
adj[src, dst] = True
reach = np.linalg.matrix_power(adj.astype(int) + np.eye(num_nodes, dtype=int), num_nodes) > 0
print(reach.sum(), np.argwhere(adj)[:3].tolist())
