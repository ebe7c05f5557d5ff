import heapq
from collections import deque, OrderedDict
import itertools
import numpy as np

INF = np.inf
W = np.array([
    [0, 7, 9, INF, INF, 14],
    [7, 0, 10, 15, INF, INF],
    [9, 10, 0, 11, INF, 2],
    [INF, 15, 11, 0, 6, INF],
    [INF, INF, INF, 6, 0, 9],
    [14, INF, 2, INF, 9, 0],
])


def dijkstra(W, s):
    n = len(W)
    dist = np.full(n, np.inf); dist[s] = 0
    prev = -np.ones(n, dtype=int)
    pq = [(0.0, s)]
    while pq:
        d, u = heapq.heappop(pq)
        if d > dist[u]:
            continue
        for v in np.flatnonzero(np.isfinite(W[u])):
            if (nd := d + W[u, v]) < dist[v]:
                dist[v] = nd
                prev[v] = u
                heapq.heappush(pq, (nd, v))
    return dist, prev


def floyd(W):
    D = W.copy()
    for k in range(len(D)):
        D = np.minimum(D, D[:, k, None] + D[None, k, :])
    return D


def path(prev, t):
    out = deque()
    while t != -1:
        out.appendleft(int(t))
        t = prev[t]
    return list(out)


def prim(W):
    n = W.shape[0]
    used = np.zeros(n, bool)
    best = np.full(n, np.inf)
    parent = np.full(n, -1)
    best[0] = 0
    total = 0
    for _ in range(n):
        u = np.where(used, np.inf, best).argmin()
        used[u] = True
        total += best[u]
        upd = (W[u] < best) & ~used
        best[upd] = W[u][upd]
        parent[upd] = u
    return total, parent


def held_karp(D):
    n = len(D)
    C = {(1 << k, k): (D[0, k], 0) for k in range(1, n)}
    for size in range(2, n):
        for subset in itertools.combinations(range(1, n), size):
            bits = sum(1 << b for b in subset)
            for k in subset:
                pb = bits & ~(1 << k)
                C[bits, k] = min((C[pb, m][0] + D[m, k], m) for m in subset if m != k)
    bits = (1 << n) - 2
    return min(C[bits, k][0] + D[k, 0] for k in range(1, n))


dist, prev = dijkstra(W, 0)
print(dist, prev, path(prev, 4))
D = floyd(W)
print(D.astype(int), np.array_equal(D[0], dist), np.unravel_index(D.argmax(), D.shape))
print(prim(W), held_karp(D))
deg = np.isfinite(W).sum(1) - 1
L = np.diag(deg) - (np.isfinite(W) & ~np.eye(6, dtype=bool))
print("algebraic connectivity %.6f" % np.sort(np.linalg.eigvalsh(L))[1], "spanning trees", round(np.linalg.det(L[1:, 1:])))
A = (np.isfinite(W) & (W > 0)).astype(int)
print("triangles", np.trace(np.linalg.matrix_power(A, 3)) // 6)
order = OrderedDict(sorted(enumerate(deg.tolist()), key=lambda kv: (-kv[1], kv[0])))
print(list(order), dict(order))
