from __future__ import annotations

import numpy as np


class InfeasibleError(Exception):
    """No feasible point."""


class UnboundedError(ValueError):
    def __init__(self, col: int):
        super().__init__(f"unbounded in column {col}")
        self.col = col


def simplex(c, A, b, *, verbose: bool = False):
    m, n = A.shape
    T = np.zeros((m + 1, n + m + 1))
    T[:m, :n] = A
    T[:m, n:n + m] = np.eye(m)
    T[:m, -1] = b
    T[-1, :n] = -c
    basis = list(range(n, n + m))
    it = 0
    while True:
        j = int(np.argmin(T[-1, :-1]))
        if T[-1, j] >= -1e-12:
            break
        col = T[:m, j]
        if np.all(col <= 0):
            raise UnboundedError(j)
        ratios = np.full(m, np.inf)
        np.divide(T[:m, -1], col, out=ratios, where=col > 1e-12)
        i = int(ratios.argmin())
        T[i] /= T[i, j]
        for r in range(m + 1):
            if r != i:
                T[r] -= T[r, j] * T[i]
        basis[i] = j
        it += 1
        if verbose:
            print(f"pivot {i},{j}: z = {T[-1, -1]:g}")
    x = np.zeros(n + m)
    x[basis] = T[:m, -1]
    return x[:n], T[-1, -1], it


x, z, it = simplex(np.array([3.0, 5]), np.array([[1.0, 0], [0, 2], [3, 2]]), np.array([4.0, 12, 18]), verbose=True)
print(x, z, it)
try:
    simplex(np.array([1.0, 1]), np.array([[1.0, -1]]), np.array([1.0]))
except InfeasibleError:
    print("infeasible")
except UnboundedError as e:
    print("error:", e, e.col)
else:
    print("??")
finally:
    print("done")


def hungarian(cost):
    n = len(cost)
    u, v, p, way = [0] * (n + 1), [0] * (n + 1), [0] * (n + 1), [0] * (n + 1)
    for i in range(1, n + 1):
        p[0] = i
        j0 = 0
        minv = [float("inf")] * (n + 1)
        used = [False] * (n + 1)
        while True:
            used[j0] = True
            i0, delta, j1 = p[j0], float("inf"), 0
            for j in range(1, n + 1):
                if not used[j]:
                    cur = cost[i0 - 1][j - 1] - u[i0] - v[j]
                    if cur < minv[j]:
                        minv[j], way[j] = cur, j0
                    if minv[j] < delta:
                        delta, j1 = minv[j], j
            for j in range(n + 1):
                if used[j]:
                    u[p[j]] += delta
                    v[j] -= delta
                else:
                    minv[j] -= delta
            j0 = j1
            if p[j0] == 0:
                break
        while j0:
            p[j0] = p[way[j0]]
            j0 = way[j0]
    return sorted((p[j] - 1, j - 1) for j in range(1, n + 1))


C = np.array([[4, 1, 3], [2, 0, 5], [3, 2, 2]])
match = hungarian(C)
print(match, sum(C[i, j] for i, j in match))
