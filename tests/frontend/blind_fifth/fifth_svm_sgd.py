#!/usr/bin/env python
import numpy as np
from dataclasses import dataclass, field


@dataclass
class LinearSVM:
    """Pegasos."""
    lam: float = 1e-2
    n_iter: int = 200
    seed: int = 0
    w: np.ndarray = field(default=None, repr=False)
    b: float = 0.0
    history: list = field(default_factory=list, repr=False)

    def fit(self, X, y):
        rng = np.random.default_rng(self.seed)
        self.w = np.zeros(X.shape[1])
        for t in range(1, self.n_iter + 1):
            i = rng.integers(len(X))
            eta = 1.0 / (self.lam * t)
            margin = y[i] * (X[i] @ self.w + self.b)
            self.w *= 1 - eta * self.lam
            if margin < 1:
                self.w += eta * y[i] * X[i]
                self.b += 0.1 * eta * y[i]
            norm = np.linalg.norm(self.w)
            if norm > 1 / np.sqrt(self.lam):
                self.w *= (1 / np.sqrt(self.lam)) / norm
            if t % 50 == 0:
                self.history.append((t, self.score(X, y)))
        return self

    def decision_function(self, X):
        return X @ self.w + self.b

    def predict(self, X):
        return np.sign(self.decision_function(X)).astype(int)

    def score(self, X, y):
        return float(np.mean(self.predict(X) == y))


if __name__ == "__main__":
    rng = np.random.default_rng(42)
    X = np.r_[rng.normal(-1, 1, size=(60, 2)), rng.normal(1.5, 1, size=(60, 2))]
    y = np.where(np.arange(120) < 60, -1, 1)
    perm = rng.permutation(len(X))
    X, y = X[perm], y[perm]
    Xtr, Xte, ytr, yte = X[:90], X[90:], y[:90], y[90:]
    clf = LinearSVM(n_iter=300).fit(Xtr, ytr)
    print(clf)
    for step, acc in clf.history:
        print(f"step {step:>4d}: train accuracy {acc:.3%}")
    print("test:", clf.score(Xte, yte))
    sv = np.flatnonzero(ytr * clf.decision_function(Xtr) < 1)
    print(f"{sv.size} support vectors, w = {np.round(clf.w, 4)}, b = {clf.b:.4f}")
