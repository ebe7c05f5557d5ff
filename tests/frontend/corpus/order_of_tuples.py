import numpy as np
d = {("a", "b"): 2.0, ("a", "a"): 1.5, ("b", "a"): 0.5}
for k, v in sorted(d.items()):
    print(k, v)
for k, v in sorted(d.items(), key=lambda kv: (-kv[1], kv[0])):
    print(k, v)
g = {3: ["x", "y"], 1: ["z"]}
print(sorted(g.items()), max(g.items()), min([(2, "b"), (2, "a"), (1, "z")]))
scores = [(0.5, "cat"), (0.9, "dog"), (0.9, "ant")]
print(max(scores), min(scores), sorted(scores, reverse=True))
print(sorted([[3, 1], [2], [2, 0], []]), max([1, 2], [1, 3]), max("pear", "apple"))
pts = [(1, np.zeros(2)), (0, np.ones(2))]
print(sorted(pts, key=lambda p: p[0])[0][0], min(pts)[0])
class Node:
    def __init__(self, cost, name):
        self.cost, self.name = cost, name
    def __lt__(self, other):
        return self.cost < other.cost
ns = [Node(3, "c"), Node(1, "a"), Node(2, "b")]
print([n.name for n in sorted(ns)], min(ns).name)
import heapq
h = []
for p in [(3, "z"), (1, "y"), (1, "x")]:
    heapq.heappush(h, p)
print([heapq.heappop(h) for _ in range(3)], heapq.nlargest(1, [(1, Node(1, "q")), (2, Node(0, "r"))])[0][0])
x = np.array([3.0, 1.0, 2.0])
print(max(zip(x, "abc")), sorted(zip(x, range(3)))[0][1], max(enumerate(x), key=lambda t: t[1])[0])
