import numpy as np

edges = [(0, 1), (1, 2), (2, 0), (3, 4), (4, 5), (5, 3), (2, 3)]
n = 6
A = np.zeros((n, n))
for u, v in edges:
    A[u, v] = A[v, u] = 1
D = np.diag(A.sum(axis=1))
L = D - A
vals, vecs = np.linalg.eigh(L)
fiedler = vecs[:, 1]
side = fiedler * np.sign(fiedler[0]) > 0
print("eigenvalues", np.round(np.abs(vals), 4))
print("partition", np.where(side)[0], np.where(~side)[0])
print("spanning trees", round(np.linalg.det(L[1:, 1:])))
walk = np.linalg.matrix_power(A.astype(int), 4)
print("closed walks", np.trace(walk), "reach", (walk > 0).sum())
p = np.full(n, 1 / n)
P = A / A.sum(1, keepdims=True)
for k in range(200):
    q = p @ P
    if np.abs(q - p).max() < 1e-10:
        break
    p = q
print(k, np.round(p, 4))
