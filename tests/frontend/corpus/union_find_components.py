import numpy as np


def find(parent, i):
    while parent[i] != i:
        parent[i] = parent[parent[i]]
        i = parent[i]
    return i


def union(parent, rank, a, b):
    ra, rb = find(parent, a), find(parent, b)
    if ra == rb:
        return False
    if rank[ra] < rank[rb]:
        ra, rb = rb, ra
    parent[rb] = ra
    if rank[ra] == rank[rb]:
        rank[ra] += 1
    return True


edges = np.array([[0, 1, 7], [0, 3, 5], [1, 2, 8], [1, 3, 9], [1, 4, 7], [2, 4, 5], [3, 4, 15], [3, 5, 6], [4, 5, 8], [4, 6, 9], [5, 6, 11]])
edges = edges[np.argsort(edges[:, 2], kind="stable")]
parent = np.arange(7)
rank = np.zeros(7, dtype=int)
mst, total = [], 0
for u, v, w in edges:
    if union(parent, rank, u, v):
        mst.append((int(u), int(v)))
        total += w
print("MST edges:", mst)
print("weight:", total)
