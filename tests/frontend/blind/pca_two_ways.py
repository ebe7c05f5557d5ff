import numpy as np


def pca_svd(X, k):
    Xc = X - X.mean(axis=0)
    U, S, Vt = np.linalg.svd(Xc, full_matrices=False)
    return Vt[:k], S[:k] ** 2 / (len(X) - 1)


def pca_power(X, k, iters=200):
    Xc = X - X.mean(axis=0)
    C = Xc.T @ Xc / (len(X) - 1)
    comps, vals = [], []
    for j in range(k):
        v = np.ones(C.shape[0]) / np.sqrt(C.shape[0])
        for _ in range(iters):
            w = C @ v
            v = w / np.linalg.norm(w)
        lam = v @ C @ v
        comps.append(v)
        vals.append(lam)
        C = C - lam * np.outer(v, v)
    return np.array(comps), np.array(vals)


rng = np.random.default_rng(8)
basis = rng.normal(size=(3, 6))
X = rng.normal(size=(80, 3)) @ np.diag([3, 1.5, 0.8]) @ basis + 0.1 * rng.normal(size=(80, 6))
V1, l1 = pca_svd(X, 3)
V2, l2 = pca_power(X, 3)
signs = np.sign((V1 * V2).sum(axis=1))
print("eigenvalues svd  ", l1.round(4))
print("eigenvalues power", l2.round(4))
print("aligned:", np.allclose(V1, V2 * signs[:, None], atol=1e-5))
total = np.var(X - X.mean(0), axis=0, ddof=1).sum()
print("explained", np.cumsum(l1 / total).round(4))
Z = (X - X.mean(0)) @ V1.T
rec = Z @ V1 + X.mean(0)
print("reconstruction error %.5f" % np.abs(X - rec).max())
