# fit(X: float64[20, 3], y: bool[20])
import numpy as np


def gini(y):
    p = np.mean(y)
    return 2 * p * (1 - p)


def fit(X, y):
    best = (np.inf, 0, 0.0)
    n, d = X.shape
    for f in range(d):
        for t in np.sort(X[:, f])[1:]:
            left = X[:, f] < t
            nl = left.sum()
            nr = n - nl
            if nl == 0 or nr == 0:
                continue
            pl = (left & y).sum() / nl
            pr = (~left & y).sum() / nr
            score = nl / n * 2 * pl * (1 - pl) + nr / n * 2 * pr * (1 - pr)
            if score < best[0]:
                best = (score, f, t)
    return np.array(best)
