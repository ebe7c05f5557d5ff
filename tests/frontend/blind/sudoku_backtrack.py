import numpy as np

PUZZLE = """
53..7....
6..195...
.98....6.
8...6...3
4..8.3..1
7...2...6
.6....28.
...419..5
....8..79
"""


def parse(s):
    return np.array([[0 if c == "." else int(c) for c in line] for line in s.split()])


def candidates(g, r, c):
    br, bc = 3 * (r // 3), 3 * (c // 3)
    used = set(g[r]) | set(g[:, c]) | set(g[br:br + 3, bc:bc + 3].flat)
    return set(range(1, 10)) - used


def solve(g):
    best = None
    for r, c in np.argwhere(g == 0):
        cand = candidates(g, r, c)
        if best is None or len(cand) < len(best[2]):
            best = (r, c, cand)
            if len(cand) <= 1:
                break
    if best is None:
        return True
    r, c, cand = best
    for v in sorted(cand):
        g[r, c] = v
        if solve(g):
            return True
        g[r, c] = 0
    return False


grid = parse(PUZZLE)
print("given", np.count_nonzero(grid))
print("solved:", solve(grid))
for i, row in enumerate(grid):
    if i % 3 == 0 and i:
        print("------+-------+------")
    print(" | ".join(" ".join(map(str, row[j:j + 3])) for j in (0, 3, 6)))
ok = all((np.sort(u) == np.arange(1, 10)).all() for u in [*grid, *grid.T])
print("valid", ok)
