# fit(points: float64[24, 2])
import numpy as np


def region_query(X, i, eps):
    d = np.sqrt(((X - X[i]) ** 2).sum(axis=1))
    return np.where(d <= eps)[0]


def fit(points, eps=0.9, min_pts=3):
    """Plain DBSCAN with a seed list."""
    n = len(points)
    labels = np.full(n, -1)
    dist = np.linalg.norm(points[:, None, :] - points[None, :, :], axis=-1)
    neighbours = dist <= eps
    core = neighbours.sum(axis=1) >= min_pts
    cluster = 0
    for i in range(n):
        if labels[i] != -1 or not core[i]:
            continue
        frontier = np.zeros(n, dtype=bool)
        frontier[i] = True
        while True:
            grown = frontier | (neighbours[frontier & core].any(axis=0))
            if (grown == frontier).all():
                break
            frontier = grown
        labels[frontier & (labels == -1)] = cluster
        cluster += 1
    return labels
