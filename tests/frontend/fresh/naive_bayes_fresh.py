from __future__ import annotations

import numpy as np


class GaussianNB:
    """Gaussian naive Bayes classifier."""

    def fit(self, X: np.ndarray, y: np.ndarray) -> GaussianNB:
        self.classes_ = np.unique(y)
        n_classes, n_features = len(self.classes_), X.shape[1]
        self.theta_ = np.zeros((n_classes, n_features))
        self.var_ = np.zeros((n_classes, n_features))
        self.prior_ = np.zeros(n_classes)
        for i, c in enumerate(self.classes_):
            Xc = X[y == c]
            self.theta_[i] = Xc.mean(axis=0)
            self.var_[i] = Xc.var(axis=0) + 1e-9
            self.prior_[i] = len(Xc) / len(X)
        return self

    def _joint_log_likelihood(self, X):
        jll = []
        for i in range(len(self.classes_)):
            prior = np.log(self.prior_[i])
            n_ij = -0.5 * np.sum(np.log(2.0 * np.pi * self.var_[i]))
            n_ij -= 0.5 * np.sum((X - self.theta_[i]) ** 2 / self.var_[i], axis=1)
            jll.append(prior + n_ij)
        return np.array(jll).T

    def predict(self, X):
        return self.classes_[np.argmax(self._joint_log_likelihood(X), axis=1)]

    def score(self, X, y):
        return np.mean(self.predict(X) == y)


rng = np.random.default_rng(12)
X = np.r_[rng.normal(0, 1, (40, 3)), rng.normal(2, 1, (40, 3)), rng.normal(-2, 0.5, (20, 3))]
y = np.repeat([0, 1, 2], [40, 40, 20])
perm = rng.permutation(len(X))
X, y = X[perm], y[perm]
split = int(0.7 * len(X))
clf = GaussianNB().fit(X[:split], y[:split])
print("train accuracy:", clf.score(X[:split], y[:split]))
print("test accuracy:", clf.score(X[split:], y[split:]))
cm = np.zeros((3, 3), dtype=int)
np.add.at(cm, (y[split:], clf.predict(X[split:])), 1)
print("confusion matrix:")
print(cm)
