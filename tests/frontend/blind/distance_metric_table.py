import numpy as np

metrics = {
    "euclidean": lambda a, b: np.sqrt(np.sum((a - b) ** 2, axis=-1)),
    "manhattan": lambda a, b: np.abs(a - b).sum(-1),
    "chebyshev": lambda a, b: np.max(np.abs(a - b), axis=-1),
    "cosine": lambda a, b: 1 - (a * b).sum(-1) / (np.linalg.norm(a, axis=-1) * np.linalg.norm(b, axis=-1)),
    "canberra": lambda a, b: (np.abs(a - b) / (np.abs(a) + np.abs(b))).sum(axis=-1),
}
rng = np.random.RandomState(5)
P = rng.uniform(0.5, 2, size=(6, 3))
Qs = rng.uniform(0.5, 2, size=(4, 3))


def pairwise(A, B, metric="euclidean"):
    try:
        f = metrics[metric]
    except KeyError:
        raise ValueError("unknown metric %r, choose from %s" % (metric, sorted(metrics))) from None
    return f(A[:, None], B[None])


def knn(A, B, k, **kw):
    d = pairwise(A, B, **kw)
    idx = np.argpartition(d, k - 1, axis=0)[:k]
    near = np.take_along_axis(d, idx, 0)
    order = near.argsort(axis=0)
    return np.take_along_axis(idx, order, 0).T, np.take_along_axis(near, order, 0).T


for name in metrics:
    d = pairwise(P, Qs, name)
    i, dist = knn(P, Qs, 2, metric=name)
    print(f"{name:<10} mean={d.mean():.4f} nearest={i[:, 0].tolist()} second={dist[:, 1].round(3)}")
try:
    pairwise(P, Qs, "hamming")
except ValueError as e:
    print("error:", e)
sym = pairwise(P, P)
print("symmetric", np.allclose(sym, sym.T), "diag", np.diag(sym).sum())
np.fill_diagonal(sym, np.inf)
print("closest pair", divmod(int(sym.argmin()), len(P)), sym.min().round(4))
