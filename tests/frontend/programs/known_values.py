import numpy as np

grid = np.array([[0, 0, 1, 0], [1, 0, 1, 0], [0, 0, 0, 0], [0, 1, 1, 0]])
dist = -np.ones_like(grid)
queue = [(0, 0)]
dist[0, 0] = 0
while queue:
    i, j = queue.pop(0)
    for di, dj in ((1, 0), (-1, 0), (0, 1), (0, -1)):
        a, b = i + di, j + dj
        if 0 <= a < 4 and 0 <= b < 4 and grid[a, b] == 0 and dist[a, b] < 0:
            dist[a, b] = dist[i, j] + 1
            queue.append((a, b))
print(dist)


def quicksort(a, lo, hi):
    if lo < hi:
        p, i = a[hi], lo
        for j in range(lo, hi):
            if a[j] < p:
                a[i], a[j] = a[j], a[i]
                i += 1
        a[i], a[hi] = a[hi], a[i]
        quicksort(a, lo, i - 1)
        quicksort(a, i + 1, hi)


values = np.array([5, 2, 9, 1, 7, 3])
quicksort(values, 0, len(values) - 1)
print(values)

m = np.array([[2.0, 1, -1, 8], [-3, -1, 2, -11], [-2, 1, 2, -3]])
for i in range(3):
    p = i + np.argmax(np.abs(m[i:, i]))
    if p != i:
        m[[i, p]] = m[[p, i]]
    for j in range(i + 1, 3):
        m[j, i:] -= m[j, i] / m[i, i] * m[i, i:]
print(m)

pairs = {}
ids = np.array([1, 2, 1, 2, 3, 1, 2])
for a, b in zip(ids[:-1].tolist(), ids[1:].tolist()):
    pairs[(a, b)] = pairs.get((a, b), 0) + 1
print(max(pairs, key=pairs.get), pairs)

matrix, v, last, rounds = np.array([[4.0, 1, 0], [1, 3, 1], [0, 1, 2]]), np.ones(3), 0, 0
while True:
    w = matrix @ v
    now = np.linalg.norm(w)
    v = w / now
    rounds += 1
    if abs(now - last) < 1e-10:
        break
    last = now
print(now, v, rounds)
