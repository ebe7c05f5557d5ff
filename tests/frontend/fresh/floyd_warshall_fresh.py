import numpy as np

INF = float("inf")


def floyd_warshall(graph):
    dist = graph.copy()
    n = dist.shape[0]
    for k in range(n):
        dist = np.minimum(dist, dist[:, k, np.newaxis] + dist[np.newaxis, k, :])
    return dist


def build_graph(n, edges, directed=False):
    g = np.full((n, n), INF)
    np.fill_diagonal(g, 0)
    for u, v, w in edges:
        g[u, v] = w
        if not directed:
            g[v, u] = w
    return g


edges = [(0, 1, 4), (0, 2, 1), (2, 1, 2), (1, 3, 5), (2, 3, 8), (3, 4, 3)]
g = build_graph(6, edges)
d = floyd_warshall(g)
print(d)
reachable = np.isfinite(d)
print("diameter of the component:", d[reachable].max())
degree = (np.isfinite(g) & (g > 0)).sum(axis=1)
print("degrees:", degree.tolist())
ecc = np.where(reachable, d, -1).max(axis=1)
print("eccentricity:", ecc)
