from itertools import product

import numpy as np

n = 5
cells = list(product(range(n), repeat=2))
index = {c: i for i, c in enumerate(cells)}
A = np.zeros((n * n, n * n), dtype=np.int64)
for (r, c), i in index.items():
    for dr, dc in product((-2, -1, 1, 2), repeat=2):
        if abs(dr) != abs(dc) and (r + dr, c + dc) in index:
            A[i, index[r + dr, c + dc]] = 1
assert (A == A.T).all()
dist = np.where(np.eye(n * n, dtype=bool), 0, -1)
reach = np.eye(n * n, dtype=np.int64)
for k in range(1, n * n):
    reach = (reach @ A > 0).astype(np.int64)
    fresh = (reach > 0) & (dist < 0)
    if not fresh.any():
        break
    dist[fresh] = k
print("degree sequence", np.bincount(A.sum(axis=0)))
print("diameter", dist.max(), "walks of length 4 corner to corner", np.linalg.matrix_power(A, 4)[0, -1])
print(dist[0].reshape(n, n))
colour = np.add.outer(np.arange(n), np.arange(n)) % 2
print("bipartite:", all(colour.flat[i] != colour.flat[j] for i, j in np.argwhere(A)))
lap = np.diag(A.sum(axis=1)) - A
print("components", n * n - np.linalg.matrix_rank(lap.astype(float)))
