import numpy as np

a, b = {3, 1, 2}, set(range(2, 6))
print(a | b, a & b, a - b, a ^ b, a <= b, {1, 2} < a, 3 in a, len(b))
a.add(10)
a.discard(99)
a.remove(1)
a.update([7, 8], (9,))
print(a, sorted(a, reverse=True), sum(a), max(a), bool(set()), a == {2, 3, 7, 8, 9, 10})
grid = np.array([[1, 2, 2], [3, 1, 2]])
print(set(grid.ravel().tolist()), {int(v) % 2 for v in grid[0]}, len({(i, j) for i in range(3) for j in range(2)}))
print(set(grid[0]), a.union([1], {2}), a.intersection({2, 7, 100}), a.isdisjoint({5}), frozenset([2, 2, 3]))
words = "the cat sat on the mat".split()
print(sorted(set(words)), len(set(words)), "cat" in set(words))
visited, todo = set(), [0]
edges = {0: [1, 2], 1: [3], 2: [3], 3: []}
while todo:
    at = todo.pop()
    if at in visited:
        continue
    visited.add(at)
    todo.extend(edges[at])
print(visited, set() == set(), {np.int64(1): 2})
ok = all(len(set(r)) == 3 for r in np.arange(9).reshape(3, 3).tolist())
print(ok, [x for x in {5, 6, 7}], {1.5, 2}.pop())
