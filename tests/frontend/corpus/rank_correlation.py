# spearman(a: float64[25], b: float64[25])
import numpy as np


def rankdata(a):
    order = a.argsort()
    ranks = np.empty(len(a))
    ranks[order] = np.arange(1, len(a) + 1)
    return ranks


def kendall(a, b):
    n = len(a)
    s = 0
    for i in range(n):
        for j in range(i + 1, n):
            s += np.sign(a[i] - a[j]) * np.sign(b[i] - b[j])
    return s / (n * (n - 1) / 2)


def spearman(a, b):
    ra, rb = rankdata(a), rankdata(b)
    rho = np.corrcoef(ra, rb)[0, 1]
    return rho, kendall(a, b)
