import heapq, bisect
from collections import defaultdict, Counter, OrderedDict, namedtuple
import numpy as np
Edge = namedtuple("Edge", "u v w")
edges = [Edge(0, 1, 4), Edge(0, 2, 1), Edge(2, 1, 2), Edge(1, 3, 5), Edge(2, 3, 8)]
adj = defaultdict(list)
for e in edges:
    adj[e.u].append((e.v, e.w))
dist = {n: float("inf") for n in range(4)}
dist[0] = 0
pq = [(0, 0)]
while pq:
    d, u = heapq.heappop(pq)
    if d > dist[u]:
        continue
    for v, w in adj[u]:
        if (nd := d + w) < dist[v]:
            dist[v] = nd
            heapq.heappush(pq, (nd, v))
print(dist)
cnt = Counter("mississippi")
print(cnt.most_common(2), sum(cnt.values()))
od = OrderedDict(sorted(cnt.items()))
od.move_to_end("i")
print(list(od))
xs = [1, 3, 5, 7]
bisect.insort(xs, 4)
print(xs, bisect.bisect_left(xs, 5), heapq.nlargest(2, xs))
print(np.array(list(dist.values())).cumsum())
