import numpy as np
from typing import List

edges = [(5, 2), (5, 0), (4, 0), (4, 1), (2, 3), (3, 1)]
n = 6
adj = np.zeros((n, n), dtype=bool)
for a, b in edges:
    adj[a, b] = True


def toposort(adj: np.ndarray) -> List[int]:
    indeg = adj.sum(axis=0)
    queue = [i for i in range(len(adj)) if indeg[i] == 0]
    order: List[int] = []
    while queue:
        u = queue.pop(0)
        order.append(u)
        for v in np.nonzero(adj[u])[0]:
            indeg[v] -= 1
            if indeg[v] == 0:
                queue.append(int(v))
    if len(order) != len(adj):
        raise ValueError("graph has a cycle")
    return order


print(toposort(adj))
reach = adj.copy()
for k in range(n):
    reach |= reach[:, k : k + 1] & reach[k : k + 1, :]
print(reach.astype(int))
