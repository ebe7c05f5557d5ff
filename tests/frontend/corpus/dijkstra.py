import heapq
import numpy as np

graph = np.array(
    [[0, 4, 0, 0, 0, 8], [4, 0, 8, 0, 0, 11], [0, 8, 0, 7, 4, 0], [0, 0, 7, 0, 9, 0], [0, 0, 4, 9, 0, 2], [8, 11, 0, 0, 2, 0]]
)


def dijkstra(g, src):
    n = len(g)
    dist = [float("inf")] * n
    prev = [None] * n
    dist[src] = 0
    heap = [(0, src)]
    while heap:
        d, u = heapq.heappop(heap)
        if d > dist[u]:
            continue
        for v in np.flatnonzero(g[u]):
            nd = d + g[u, v]
            if nd < dist[v]:
                dist[v] = nd
                prev[v] = u
                heapq.heappush(heap, (nd, v))
    return dist, prev


dist, prev = dijkstra(graph, 0)
print([int(d) for d in dist])
path, node = [], 3
while node is not None:
    path.append(int(node))
    node = prev[node]
print(" -> ".join(str(p) for p in reversed(path)))
