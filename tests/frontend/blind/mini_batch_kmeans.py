from collections import Counter, defaultdict

import numpy as np


class MiniBatchKMeans:
    def __init__(self, k, batch=16, n_iter=30, seed=0):
        self.k = k
        self.batch = batch
        self.n_iter = n_iter
        self.rng = np.random.RandomState(seed)
        self.centers_ = None

    def fit(self, X):
        self.centers_ = X[self.rng.choice(len(X), self.k, replace=False)].copy()
        counts = np.zeros(self.k)
        for _ in range(self.n_iter):
            B = X[self.rng.randint(0, len(X), self.batch)]
            nearest = self._assign(B)
            for x, c in zip(B, nearest):
                counts[c] += 1
                eta = 1 / counts[c]
                self.centers_[c] = (1 - eta) * self.centers_[c] + eta * x
        return self

    def _assign(self, X):
        d = ((X[:, None, :] - self.centers_[None, :, :]) ** 2).sum(-1)
        return d.argmin(1)

    predict = _assign

    def inertia(self, X):
        lab = self.predict(X)
        return ((X - self.centers_[lab]) ** 2).sum()


rs = np.random.RandomState(1)
X = np.concatenate([rs.randn(40, 2) * 0.4 + c for c in [(0, 0), (4, 4), (0, 5)]])
y = np.repeat(["a", "b", "c"], 40)
km = MiniBatchKMeans(3, seed=3).fit(X)
lab = km.predict(X)
groups = defaultdict(list)
for name, l in zip(y, lab):
    groups[int(l)].append(str(name))
for l in sorted(groups):
    print(l, Counter(groups[l]).most_common())
print("inertia %.3f" % km.inertia(X))
print(np.round(km.centers_[np.lexsort(km.centers_.T)], 2))
