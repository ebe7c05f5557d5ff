import numpy as np
from scipy.special import logsumexp
from scipy.stats import multivariate_normal


def em(X, k, iters=10, seed=0):
    rng = np.random.default_rng(seed)
    n, d = X.shape
    mu = X[rng.choice(n, k, replace=False)]
    S = np.stack([np.cov(X.T)] * k)
    pi = np.ones(k) / k
    for _ in range(iters):
        logr = np.log(pi) + np.column_stack([multivariate_normal.logpdf(X, mu[j], S[j]) for j in range(k)])
        ll = logsumexp(logr, axis=1)
        r = np.exp(logr - ll[:, None])
        nk = r.sum(0)
        mu = r.T @ X / nk[:, None]
        for j in range(k):
            dlt = X - mu[j]
            S[j] = (r[:, j, None] * dlt).T @ dlt / nk[j] + 1e-6 * np.eye(d)
        pi = nk / n
    return mu, pi, ll.sum()


rng = np.random.default_rng(1)
X = np.vstack([rng.normal(0, 1, (30, 2)), rng.normal(5, 1, (30, 2))])
mu, pi, ll = em(X, 2)
print(mu[np.argsort(mu[:, 0])].round(3), pi.sum().round(6), f"{ll:.4f}")

#! F204: scipy.stats
