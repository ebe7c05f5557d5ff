import numpy as np


class Node:
    __slots__ = ("feature", "threshold", "left", "right", "value")

    def __init__(self, value=None):
        self.feature = None
        self.threshold = None
        self.left = None
        self.right = None
        self.value = value


class RegressionTree:
    def __init__(self, max_depth=2, min_samples=4):
        self.max_depth = max_depth
        self.min_samples = min_samples
        self.root = None

    def fit(self, X, y):
        self.root = self._grow(X, y, 0)
        return self

    def _grow(self, X, y, depth):
        node = Node(y.mean())
        if depth >= self.max_depth or len(y) < self.min_samples:
            return node
        best = None
        for j in range(X.shape[1]):
            for t in np.unique(X[:, j])[:-1]:
                left = X[:, j] <= t
                sse = y[left].var() * left.sum() + y[~left].var() * (~left).sum()
                if best is None or sse < best[0]:
                    best = (sse, j, t, left)
        if best is None:
            return node
        _, node.feature, node.threshold, left = best
        node.left = self._grow(X[left], y[left], depth + 1)
        node.right = self._grow(X[~left], y[~left], depth + 1)
        return node

    def predict_one(self, x):
        node = self.root
        while node.left is not None:
            node = node.left if x[node.feature] <= node.threshold else node.right
        return node.value

    def show(self, node=None, indent=0):
        node = node or self.root
        if node.left is None:
            print(" " * indent + f"-> {node.value:.3f}")
            return
        print(" " * indent + f"x[{node.feature}] <= {node.threshold:.2f}")
        self.show(node.left, indent + 2)
        self.show(node.right, indent + 2)


X = np.column_stack([np.arange(12) % 4, np.arange(12) // 3]).astype(float)
y = np.where(X[:, 0] > 1, 10.0, 2.0) + X[:, 1]
tree = RegressionTree(max_depth=2).fit(X, y)
tree.show()
pred = np.array([tree.predict_one(x) for x in X])
print("R2 = %.4f" % (1 - ((y - pred) ** 2).sum() / ((y - y.mean()) ** 2).sum()))
