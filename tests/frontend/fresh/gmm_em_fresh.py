import numpy as np
from numpy.linalg import inv, det


def gaussian_pdf(X, mean, cov):
    d = X.shape[1]
    diff = X - mean
    norm = 1.0 / np.sqrt((2 * np.pi) ** d * det(cov))
    return norm * np.exp(-0.5 * np.einsum("ij,jk,ik->i", diff, inv(cov), diff))


def em(X, k, iters=20):
    n, d = X.shape
    weights = np.ones(k) / k
    means = X[:: n // k][:k].copy()
    covs = np.array([np.eye(d)] * k)
    lls = []
    for _ in range(iters):
        resp = np.array([w * gaussian_pdf(X, m, c) for w, m, c in zip(weights, means, covs)]).T
        total = resp.sum(axis=1, keepdims=True)
        lls.append(np.log(total).sum())
        resp /= total
        Nk = resp.sum(axis=0)
        weights = Nk / n
        means = (resp.T @ X) / Nk[:, None]
        for j in range(k):
            diff = X - means[j]
            covs[j] = (resp[:, j, None] * diff).T @ diff / Nk[j] + 1e-6 * np.eye(d)
    return weights, means, covs, lls


if __name__ == "__main__":
    rng = np.random.default_rng(77)
    X = np.vstack([
        rng.multivariate_normal([0, 0], [[1, 0.3], [0.3, 0.5]], 60),
        rng.multivariate_normal([4, 3], [[0.6, -0.2], [-0.2, 0.8]], 40),
    ])
    w, m, c, lls = em(X, 2)
    print("weights", w.round(3))
    print("means", m.round(3), sep="\n")
    print("log-likelihood %.3f -> %.3f" % (lls[0], lls[-1]))
    assert all(b >= a - 1e-6 for a, b in zip(lls, lls[1:]))
