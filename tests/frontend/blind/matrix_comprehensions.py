import numpy as np

n = 5
mult = np.array([[i * j for j in range(1, n + 1)] for i in range(1, n + 1)])
primes = [p for p in range(2, 40) if all(p % d for d in range(2, int(p**0.5) + 1))]
pyth = [(a, b, c) for c in range(1, 30) for b in range(1, c) for a in range(1, b) if a * a + b * b == c * c]
index = {(i, j): int(mult[i, j]) for i in range(n) for j in range(n) if i <= j and (i + j) % 2}
spiral = [[0] * n for _ in range(n)]
r = c = 0
dr, dc = 0, 1
for k in range(1, n * n + 1):
    spiral[r][c] = k
    if not (0 <= r + dr < n and 0 <= c + dc < n) or spiral[r + dr][c + dc]:
        dr, dc = dc, -dr
    r, c = r + dr, c + dc
flat = [x for row in spiral for x in row]
transposed = list(map(list, zip(*spiral)))
print(mult)
print(primes)
print(pyth)
print(index)
for row in spiral:
    print(" ".join(f"{v:2d}" for v in row))
print(flat == sorted(flat), np.array_equal(np.array(transposed), np.array(spiral).T))
diag = {f"d{k:+d}": np.diagonal(spiral, k).tolist() for k in range(-2, 3)}
print(diag)
groups = {k: [w for w in "a bb cc ddd e ff".split() if len(w) == k] for k in {1, 2, 3}}
print(groups, {frozenset(v) for v in groups.values()} == {frozenset("ae"), frozenset({"bb", "cc", "ff"}), frozenset(["ddd"])})
print(sum(x for x in flat if x % 3 == 0), [*range(3), *"ab"], [a if a > 12 else -a for a in flat[:4]])
