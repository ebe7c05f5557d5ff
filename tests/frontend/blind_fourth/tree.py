from __future__ import annotations
from dataclasses import dataclass
import numpy as np


@dataclass
class Node:
    feature: int | None = None
    threshold: float | None = None
    left: Node | None = None
    right: Node | None = None
    value: int | None = None

    @property
    def is_leaf(self) -> bool:
        return self.value is not None


def gini(y):
    _, c = np.unique(y, return_counts=True)
    p = c / c.sum()
    return 1.0 - np.sum(p**2)


class DecisionTree:
    def __init__(self, max_depth=3, min_samples=2):
        self.max_depth, self.min_samples = max_depth, min_samples

    def fit(self, X, y):
        self.n_classes = len(set(y.tolist()))
        self.root = self._grow(X, y, 0)
        return self

    def _best_split(self, X, y):
        best = (0.0, None, None)
        parent = gini(y)
        for f in range(X.shape[1]):
            for t in np.unique(X[:, f])[:-1]:
                m = X[:, f] <= t
                g = parent - m.mean() * gini(y[m]) - (~m).mean() * gini(y[~m])
                if g > best[0] + 1e-12:
                    best = (g, f, t)
        return best

    def _grow(self, X, y, depth):
        if depth >= self.max_depth or len(y) < self.min_samples or len(np.unique(y)) == 1:
            return Node(value=int(np.bincount(y).argmax()))
        gain, f, t = self._best_split(X, y)
        if f is None:
            return Node(value=int(np.bincount(y).argmax()))
        m = X[:, f] <= t
        return Node(f, float(t), self._grow(X[m], y[m], depth + 1), self._grow(X[~m], y[~m], depth + 1))

    def predict_one(self, x):
        node = self.root
        while not node.is_leaf:
            node = node.left if x[node.feature] <= node.threshold else node.right
        return node.value

    def predict(self, X):
        return np.array([self.predict_one(x) for x in X])

    def dump(self, node=None, indent=""):
        node = node or self.root
        if node.is_leaf:
            print(f"{indent}-> {node.value}")
            return
        print(f"{indent}x[{node.feature}] <= {node.threshold:.3f}")
        self.dump(node.left, indent + "  ")
        self.dump(node.right, indent + "  ")


rng = np.random.RandomState(4)
X = rng.rand(24, 3).round(2)
y = ((X[:, 0] > 0.5) ^ (X[:, 1] > 0.4)).astype(int)
tree = DecisionTree(3).fit(X, y)
tree.dump()
pred = tree.predict(X)
print("train accuracy:", (pred == y).mean())
cm = np.zeros((2, 2), int)
for a, b in zip(y, pred):
    cm[a, b] += 1
print(cm)
forest = [DecisionTree(2).fit(X[i], y[i]) for i in (rng.choice(24, 24) for _ in range(3))]
votes = np.stack([t.predict(X) for t in forest])
print(np.apply_along_axis(lambda c: np.bincount(c, minlength=2).argmax(), 0, votes))
