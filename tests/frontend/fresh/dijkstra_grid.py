"""Shortest path on a weighted grid."""
import heapq

import numpy as np


def dijkstra(cost, start, goal):
    h, w = cost.shape
    dist = np.full((h, w), np.inf)
    dist[start] = 0
    parent = {}
    queue = [(0.0, start)]
    visited = np.zeros((h, w), dtype=bool)
    while queue:
        d, (r, c) = heapq.heappop(queue)
        if visited[r, c]:
            continue
        visited[r, c] = True
        if (r, c) == goal:
            break
        for dr, dc in ((1, 0), (-1, 0), (0, 1), (0, -1)):
            nr, nc = r + dr, c + dc
            if 0 <= nr < h and 0 <= nc < w and not visited[nr, nc]:
                nd = d + cost[nr, nc]
                if nd < dist[nr, nc]:
                    dist[nr, nc] = nd
                    parent[(nr, nc)] = (r, c)
                    heapq.heappush(queue, (nd, (nr, nc)))
    path = [goal]
    while path[-1] != start:
        path.append(parent[path[-1]])
    return dist[goal], path[::-1]


grid = np.array([
    [1, 3, 1, 1, 9],
    [1, 9, 1, 9, 1],
    [1, 1, 1, 9, 1],
    [9, 9, 1, 1, 1],
])
total, path = dijkstra(grid, (0, 0), (3, 4))
print("cost:", total)
print(" -> ".join(f"({r},{c})" for r, c in path))
