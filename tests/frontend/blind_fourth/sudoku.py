import numpy as np

puzzle = """
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


def parse(text):
    return np.array([[0 if c == "." else int(c) for c in line] for line in text.strip().splitlines()])


def candidates(grid, r, c):
    used = set(grid[r]) | set(grid[:, c])
    br, bc = 3 * (r // 3), 3 * (c // 3)
    used |= set(grid[br:br + 3, bc:bc + 3].flat)
    return set(range(1, 10)) - used


def solve(grid):
    best = None
    for r, c in zip(*np.nonzero(grid == 0)):
        cand = candidates(grid, r, c)
        if best is None or len(cand) < len(best[2]):
            best = (r, c, cand)
            if len(cand) <= 1:
                break
    if best is None:
        return True
    r, c, cand = best
    for v in sorted(cand):
        grid[r, c] = v
        if solve(grid):
            return True
        grid[r, c] = 0
    return False


g = parse(puzzle)
ok = solve(g)
print(ok)
print(g)
print((g.sum(axis=0) == 45).all(), (g.sum(axis=1) == 45).all())
