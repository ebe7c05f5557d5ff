import numpy as np
from dataclasses import dataclass
from typing import Any

@dataclass(frozen=True, order=True)
class P:
    d: float
    i: int

@dataclass
class KD:
    point: np.ndarray
    index: int
    axis: int
    left: Any = None
    right: Any = None

def build(pts, idx, depth=0):
    if len(idx) == 0:
        return None
    ax = depth % pts.shape[1]
    idx = idx[np.argsort(pts[idx, ax], kind="stable")]
    m = len(idx) // 2
    return KD(pts[idx[m]], int(idx[m]), ax, build(pts, idx[:m], depth + 1), build(pts, idx[m + 1:], depth + 1))

def nearest(node, q, best=None):
    if node is None:
        return best
    d = float(np.sum((node.point - q) ** 2))
    if best is None or d < best.d:
        best = P(d, node.index)
    diff = q[node.axis] - node.point[node.axis]
    near, far = (node.left, node.right) if diff < 0 else (node.right, node.left)
    best = nearest(near, q, best)
    if diff ** 2 < best.d:
        best = nearest(far, q, best)
    return best

rng = np.random.default_rng(7)
pts = rng.random((40, 2))
tree = build(pts, np.arange(40))
ok = 0
for q in rng.random((20, 2)):
    b = nearest(tree, q)
    ok += b.i == int(((pts - q) ** 2).sum(1).argmin())
print(ok, sorted([P(2, 1), P(1, 5), P(1, 2)])[0])
