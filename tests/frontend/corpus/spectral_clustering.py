# embed(points: float64[16, 2])
import numpy as np


def embed(points, sigma=1.0, k=2):
    sq = np.sum(points**2, axis=1)
    d2 = sq[:, None] + sq[None, :] - 2 * points @ points.T
    W = np.exp(-np.maximum(d2, 0) / (2 * sigma**2))
    np.fill_diagonal(W, 0.0)
    deg = W.sum(axis=1)
    d_inv_sqrt = np.diag(1 / np.sqrt(deg))
    L = np.eye(len(points)) - d_inv_sqrt @ W @ d_inv_sqrt
    vals, vecs = np.linalg.eigh(L)
    fiedler = vecs[:, 1]
    fiedler = fiedler * np.sign(fiedler[0])
    return vals[:k], fiedler > 0
