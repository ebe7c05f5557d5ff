# em(X: float64[40, 2])
import numpy as np


def log_gauss(X, mu, var):
    return -0.5 * (np.log(2 * np.pi * var).sum() + ((X - mu) ** 2 / var).sum(axis=1))


def logsumexp(a, axis=None, keepdims=False):
    m = a.max(axis=axis, keepdims=True)
    s = np.log(np.exp(a - m).sum(axis=axis, keepdims=True)) + m
    return s if keepdims else np.squeeze(s, axis=axis)


def em(X, k=3, iters=20):
    rng = np.random.default_rng(0)
    n, d = X.shape
    mu = X[rng.permutation(n)[:k]]
    var = np.ones((k, d))
    pi = np.full(k, 1 / k)
    prev = -np.inf
    for _ in range(iters):
        logp = np.stack([np.log(pi[j]) + log_gauss(X, mu[j], var[j]) for j in range(k)], axis=1)
        norm = logsumexp(logp, axis=1, keepdims=True)
        r = np.exp(logp - norm)
        nk = r.sum(axis=0) + 1e-12
        mu = (r.T @ X) / nk[:, None]
        var = (r.T @ X**2) / nk[:, None] - mu**2 + 1e-6
        pi = nk / n
        ll = norm.sum()
        if abs(ll - prev) < 1e-4:
            break
        prev = ll
    return mu, var, pi, ll
