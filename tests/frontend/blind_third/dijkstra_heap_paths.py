import heapq

graph = {
    "A": {"B": 7, "C": 9, "F": 14},
    "B": {"A": 7, "C": 10, "D": 15},
    "C": {"A": 9, "B": 10, "D": 11, "F": 2},
    "D": {"B": 15, "C": 11, "E": 6},
    "E": {"D": 6, "F": 9},
    "F": {"A": 14, "C": 2, "E": 9},
}


def dijkstra(graph, source):
    dist = {node: float("inf") for node in graph}
    prev = {}
    dist[source] = 0
    heap = [(0, source)]
    seen = set()
    while heap:
        d, node = heapq.heappop(heap)
        if node in seen:
            continue
        seen.add(node)
        for nxt, w in graph[node].items():
            if (nd := d + w) < dist[nxt]:
                dist[nxt] = nd
                prev[nxt] = node
                heapq.heappush(heap, (nd, nxt))
    return dist, prev


def path_to(prev, target):
    path = [target]
    while path[-1] in prev:
        path.append(prev[path[-1]])
    return path[::-1]


dist, prev = dijkstra(graph, "A")
for node, d in sorted(dist.items()):
    print(f"{node}: {d:>3}  {' -> '.join(path_to(prev, node))}")
