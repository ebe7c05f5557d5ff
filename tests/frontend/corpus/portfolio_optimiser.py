# frontier(returns: float64[60, 4])
import numpy as np


def frontier(returns, n_points=5):
    mu = returns.mean(axis=0)
    sigma = np.cov(returns, rowvar=False)
    ones = np.ones(len(mu))
    inv = np.linalg.inv(sigma)
    a = ones @ inv @ ones
    b = ones @ inv @ mu
    c = mu @ inv @ mu
    d = a * c - b**2
    result = []
    for target in np.linspace(mu.min(), mu.max(), n_points):
        lam = (c - b * target) / d
        gam = (a * target - b) / d
        w = inv @ (lam * ones + gam * mu)
        vol = np.sqrt(w @ sigma @ w)
        result.append(np.concatenate([w, [vol]]))
    return np.vstack(result)
