import heapq
from collections import defaultdict, deque
from typing import Iterable
import numpy as np

EDGES = [("a", "b", 4), ("a", "c", 2), ("b", "c", 5), ("b", "d", 10), ("c", "e", 3), ("e", "d", 4), ("d", "f", 11)]


class Graph:
    def __init__(self, edges: Iterable[tuple[str, str, int]]):
        self.adj: dict[str, list] = defaultdict(list)
        for u, v, w in edges:
            self.adj[u].append((v, w))
            self.adj[v].append((u, w))
        self.nodes = sorted(self.adj)
        self.index = {n: i for i, n in enumerate(self.nodes)}

    def __len__(self):
        return len(self.nodes)

    def __iter__(self):
        return iter(self.nodes)

    def dijkstra(self, src):
        dist = {n: float("inf") for n in self}
        prev = {}
        dist[src] = 0
        pq = [(0, src)]
        while pq:
            d, u = heapq.heappop(pq)
            if d > dist[u]:
                continue
            for v, w in self.adj[u]:
                if (nd := d + w) < dist[v]:
                    dist[v] = nd
                    prev[v] = u
                    heapq.heappush(pq, (nd, v))
        return dist, prev

    def bfs(self, src):
        seen, order = {src}, []
        q = deque([src])
        while q:
            u = q.popleft()
            order.append(u)
            for v, _ in sorted(self.adj[u]):
                if v not in seen:
                    seen.add(v)
                    q.append(v)
        return order

    def matrix(self):
        n = len(self)
        m = np.full((n, n), np.inf)
        np.fill_diagonal(m, 0)
        for u in self:
            for v, w in self.adj[u]:
                m[self.index[u], self.index[v]] = w
        return m


def floyd(m):
    d = m.copy()
    for k in range(len(d)):
        d = np.minimum(d, d[:, k, None] + d[None, k, :])
    return d


def path(prev, t):
    out = [t]
    while t in prev:
        t = prev[t]
        out.append(t)
    return out[::-1]


g = Graph(EDGES)
dist, prev = g.dijkstra("a")
print(dist)
print(" -> ".join(path(prev, "f")))
print(g.bfs("a"))
fw = floyd(g.matrix())
assert all(fw[g.index["a"], g.index[n]] == dist[n] for n in g)
print(fw.astype(int))
L = np.diag((np.isfinite(g.matrix()).sum(1) - 1)) - (np.isfinite(g.matrix()) & ~np.eye(len(g), dtype=bool)).astype(int)
print(np.round(np.linalg.eigvalsh(L.astype(float)), 4))
