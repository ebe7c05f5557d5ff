# pagerank(adj: float64[10, 10] positive)
#! order: np.argsort of equal elements; NumPy's default kind leaves their order open
import numpy as np


def pagerank(adj, damping=0.85, tol=1e-8, max_iter=200):
    A = (adj > 1.0).astype(float)
    np.fill_diagonal(A, 0)
    out = A.sum(axis=1)
    dangling = out == 0
    n = A.shape[0]
    M = np.divide(A, out[:, None], out=np.full_like(A, 1.0 / n), where=~dangling[:, None])
    rank = np.ones(n) / n
    for it in range(max_iter):
        new = damping * rank @ M + (1 - damping) / n
        delta = np.abs(new - rank).sum()
        rank = new
        if delta < tol:
            break
    order = np.argsort(-rank)
    return rank, order
