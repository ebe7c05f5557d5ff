import numpy as np
from collections import deque


def bfs(cap, flow, s, t):
    parent = {s: None}
    q = deque([s])
    while q:
        u = q.popleft()
        for v in np.nonzero(cap[u] - flow[u] > 0)[0]:
            v = int(v)
            if v not in parent:
                parent[v] = u
                if v == t:
                    return parent
                q.append(v)
    return None


def max_flow(cap, s, t):
    flow = np.zeros_like(cap)
    rounds = 0
    while (parent := bfs(cap, flow, s, t)) is not None:
        path, v = [], t
        while parent[v] is not None:
            path.append((parent[v], v))
            v = parent[v]
        extra = min(cap[e] - flow[e] for e in path)
        for u, v in path:
            flow[u, v] += extra
            flow[v, u] -= extra
        rounds += 1
    return flow, rounds


names = "s a b c d t".split()
edges = [("s", "a", 16), ("s", "b", 13), ("a", "b", 10), ("b", "a", 4), ("a", "c", 12), ("c", "b", 9), ("b", "d", 14),
         ("d", "c", 7), ("c", "t", 20), ("d", "t", 4)]
idx = {n: i for i, n in enumerate(names)}
cap = np.zeros((6, 6), dtype=int)
for u, v, w in edges:
    cap[idx[u], idx[v]] = w
flow, rounds = max_flow(cap, 0, 5)
print("value", flow[0].sum(), "rounds", rounds)
for u, v, w in edges:
    if (f := flow[idx[u], idx[v]]) > 0:
        print(f"{u}->{v} {f}/{w}")
side = {0}
frontier = [0]
while frontier:
    u = frontier.pop()
    new = {int(v) for v in np.flatnonzero(cap[u] > flow[u])} - side
    side |= new
    frontier.extend(sorted(new))
cut = [(u, v) for u, v, w in edges if idx[u] in side and idx[v] not in side]
print("min cut", cut, sum(cap[idx[u], idx[v]] for u, v in cut))
