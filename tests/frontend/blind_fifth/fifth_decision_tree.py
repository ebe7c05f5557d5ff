import numpy as np
from dataclasses import dataclass
from typing import Optional, Union


@dataclass(frozen=True)
class Leaf:
    counts: tuple

    @property
    def label(self):
        return max(range(len(self.counts)), key=self.counts.__getitem__)


@dataclass(frozen=True)
class Split:
    feature: int
    threshold: float
    left: Union["Split", Leaf]
    right: Union["Split", Leaf]


Node = Union[Split, Leaf]


def gini(y, k):
    p = np.bincount(y, minlength=k) / len(y)
    return 1.0 - np.dot(p, p)


def best_split(X, y, k) -> Optional[tuple]:
    best, best_score = None, gini(y, k)
    n, d = X.shape
    for j in range(d):
        values = np.unique(X[:, j])
        for t in (values[:-1] + values[1:]) / 2:
            m = X[:, j] <= t
            nl = np.count_nonzero(m)
            score = (nl * gini(y[m], k) + (n - nl) * gini(y[~m], k)) / n
            if score < best_score - 1e-12:
                best, best_score = (j, float(t), m), score
    return best


def grow(X, y, k, depth=3) -> Node:
    if depth == 0 or len(set(y.tolist())) == 1 or (s := best_split(X, y, k)) is None:
        return Leaf(tuple(np.bincount(y, minlength=k).tolist()))
    j, t, m = s
    return Split(j, t, grow(X[m], y[m], k, depth - 1), grow(X[~m], y[~m], k, depth - 1))


def predict_one(node: Node, x) -> int:
    match node:
        case Leaf():
            return node.label
        case Split(feature=f, threshold=t, left=l) if x[f] <= t:
            return predict_one(l, x)
        case Split(right=r):
            return predict_one(r, x)
        case _:
            raise TypeError(node)


def dump(node, indent=0):
    pad = "|   " * indent
    match node:
        case Leaf(counts):
            yield f"{pad}|--- class {node.label} {list(counts)}"
        case Split(f, t, l, r):
            yield f"{pad}|--- x{f} <= {t:.3f}"
            yield from dump(l, indent + 1)
            yield f"{pad}|--- x{f} >  {t:.3f}"
            yield from dump(r, indent + 1)


rng = np.random.default_rng(11)
X = rng.random((48, 3)).round(2)
y = ((X[:, 0] > 0.5).astype(int) + (X[:, 1] + 0.1 * X[:, 2] > 0.6)).astype(int)
tree = grow(X, y, 3)
print(*dump(tree), sep="\n")
pred = np.fromiter((predict_one(tree, x) for x in X), dtype=int)
cm = np.zeros((3, 3), int)
np.add.at(cm, (y, pred), 1)
print(cm, f"accuracy={np.trace(cm) / cm.sum():.4f}", sep="\n")
