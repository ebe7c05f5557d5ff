# lloyd(X: float64[60, 2], seeds: int64[3] index)
import numpy as np


def lloyd(X, seeds, max_iter: int = 50, tol: float = 1e-6):
    """Lloyd's algorithm; returns centres, labels, inertia and iterations."""
    C = X[seeds % len(X)].copy()
    it, shift = 0, np.inf
    while it < max_iter and shift > tol:
        d2 = (X**2).sum(1)[:, None] - 2 * X @ C.T + (C**2).sum(1)
        labels = d2.argmin(1)
        new = np.zeros_like(C)
        np.add.at(new, labels, X)
        counts = np.bincount(labels, minlength=len(C))
        empty = counts == 0
        new[~empty] /= counts[~empty, None]
        new[empty] = C[empty]
        shift = np.linalg.norm(new - C)
        C = new
        it += 1
    inertia = np.take_along_axis(d2, labels[:, None], 1).sum()
    order = np.lexsort(C.T[::-1])
    return C[order], np.argsort(order)[labels], inertia, it
