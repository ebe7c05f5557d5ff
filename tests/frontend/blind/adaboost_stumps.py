from dataclasses import dataclass

import numpy as np


@dataclass
class Stump:
    feature: int = 0
    threshold: float = 0.0
    polarity: int = 1
    alpha: float = 0.0

    def predict(self, X):
        col = X[:, self.feature]
        out = np.ones(len(X))
        if self.polarity == 1:
            out[col < self.threshold] = -1
        else:
            out[col > self.threshold] = -1
        return out


class AdaBoost:
    def __init__(self, rounds=5):
        self.rounds = rounds
        self.stumps = []

    def fit(self, X, y):
        w = np.full(len(X), 1 / len(X))
        for _ in range(self.rounds):
            stump, best = Stump(), float("inf")
            for f in range(X.shape[1]):
                for thr in np.unique(X[:, f])[::3]:
                    pred = np.ones(len(X))
                    pred[X[:, f] < thr] = -1
                    err = w[y != pred].sum()
                    pol = 1
                    if err > 0.5:
                        err, pol = 1 - err, -1
                    if err < best:
                        best = err
                        stump.feature, stump.threshold, stump.polarity = f, thr, pol
            stump.alpha = 0.5 * np.log((1 - best + 1e-10) / (best + 1e-10))
            w *= np.exp(-stump.alpha * y * stump.predict(X))
            w /= w.sum()
            self.stumps.append(stump)
        return self

    def predict(self, X):
        return np.sign(sum(s.alpha * s.predict(X) for s in self.stumps))


rng = np.random.default_rng(3)
X = rng.normal(size=(60, 2))
y = np.where(X[:, 0] * X[:, 1] + 0.3 * X[:, 0] > 0, 1, -1)
model = AdaBoost(6).fit(X[:45], y[:45])
for i, s in enumerate(model.stumps):
    print(f"{i}: x[{s.feature}] {'<' if s.polarity == 1 else '>'} {s.threshold:.3f} alpha={s.alpha:.3f}")
print("train", np.mean(model.predict(X[:45]) == y[:45]), "test", (model.predict(X[45:]) == y[45:]).mean())
