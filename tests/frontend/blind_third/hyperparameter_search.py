import itertools

import numpy as np


def make_data(n=60, seed=0):
    r = np.random.default_rng(seed)
    X = r.uniform(-3, 3, (n, 1))
    return X, np.sinc(X[:, 0]) + r.normal(0, 0.1, n)


def rbf(A, B, length):
    d2 = np.sum(A ** 2, 1)[:, None] + np.sum(B ** 2, 1)[None] - 2 * A @ B.T
    return np.exp(-d2 / (2 * length ** 2))


def kfold(n, k):
    idx = np.arange(n)
    for f in range(k):
        test = idx[f::k]
        yield np.setdiff1d(idx, test), test


X, y = make_data()
grid = {"length": [0.3, 1.0, 3.0], "lam": [1e-3, 1e-1]}
scores = {}
for combo in itertools.product(*grid.values()):
    cfg = dict(zip(grid, combo))
    errs = []
    for tr, te in kfold(len(X), 5):
        K = rbf(X[tr], X[tr], cfg["length"])
        alpha = np.linalg.solve(K + cfg["lam"] * np.eye(len(tr)), y[tr])
        errs.append(np.mean((rbf(X[te], X[tr], cfg["length"]) @ alpha - y[te]) ** 2))
    scores[tuple(cfg.values())] = np.mean(errs)
    print(" ".join(f"{k}={v:<6g}" for k, v in cfg.items()), f"mse={scores[combo]:.5f}")
best = min(scores, key=scores.get)
print("best:", dict(zip(grid, best)))
