import numpy as np


class UnionFind:
    def __init__(self, n):
        self.parent = list(range(n))
        self.size = [1] * n

    def find(self, x):
        while self.parent[x] != x:
            self.parent[x] = self.parent[self.parent[x]]
            x = self.parent[x]
        return x

    def union(self, a, b):
        a, b = self.find(a), self.find(b)
        if a == b:
            return False
        if self.size[a] < self.size[b]:
            a, b = b, a
        self.parent[b] = a
        self.size[a] += self.size[b]
        return True


rng = np.random.default_rng(8)
pts = rng.uniform(0, 10, size=(12, 2))
d = np.sqrt(((pts[:, None, :] - pts[None, :, :]) ** 2).sum(-1))
i, j = np.triu_indices(12, k=1)
order = np.argsort(d[i, j])
uf = UnionFind(12)
tree = []
for e in order:
    if uf.union(int(i[e]), int(j[e])):
        tree.append((int(i[e]), int(j[e]), round(float(d[i[e], j[e]]), 3)))
print(len(tree), "edges, total", round(sum(w for *_, w in tree), 3))
for edge in tree[:5]:
    print(edge)
