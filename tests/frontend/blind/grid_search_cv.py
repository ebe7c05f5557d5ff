from itertools import product

import numpy as np

rng = np.random.default_rng(10)
X = rng.uniform(-1, 1, (48, 3))
y = np.sin(3 * X[:, 0]) + 0.5 * X[:, 1] ** 2 + 0.05 * rng.standard_normal(48)


def rbf(A, B, gamma):
    d = (A**2).sum(1)[:, None] + (B**2).sum(1) - 2 * A @ B.T
    return np.exp(-gamma * d)


class KernelRidge:
    def __init__(self, gamma=1.0, alpha=1.0):
        self.gamma, self.alpha = gamma, alpha

    def fit(self, X, y):
        self.X_ = X
        K = rbf(X, X, self.gamma)
        self.dual_ = np.linalg.solve(K + self.alpha * np.eye(len(X)), y)
        return self

    def predict(self, X):
        return rbf(X, self.X_, self.gamma) @ self.dual_

    def score(self, X, y):
        r = y - self.predict(X)
        return 1 - (r @ r) / np.sum((y - y.mean()) ** 2)


def kfold(n, k):
    idx = np.arange(n)
    for fold in np.array_split(idx, k):
        yield np.setdiff1d(idx, fold), fold


grid = {"gamma": [0.1, 1.0, 5.0], "alpha": [1e-3, 1e-1]}
results = []
for values in product(*grid.values()):
    params = dict(zip(grid, values))
    scores = [KernelRidge(**params).fit(X[tr], y[tr]).score(X[te], y[te]) for tr, te in kfold(len(X), 4)]
    results.append((np.mean(scores), np.std(scores), params))
results.sort(key=lambda r: r[0], reverse=True)
for mean, std, params in results:
    print(f"{mean:.4f} (+/- {std:.4f})", params)
best = results[0][2]
print("best:", ", ".join(f"{k}={v}" for k, v in best.items()))
