#! F510: a search that computes more while it is read than is allowed
import sys
import numpy as np

PUZZLE = "530070000600195000098000060800060003400803001700020006060000280000419005000080079"


class Contradiction(Exception):
    def __init__(self, cell, *args):
        super().__init__(f"no candidates at {cell}", *args)
        self.cell = cell


def candidates(grid):
    cand = np.ones((9, 9, 10), bool)
    cand[..., 0] = False
    for r, c in np.argwhere(grid):
        v = grid[r, c]
        cand[r, :, v] = cand[:, c, v] = False
        br, bc = r // 3 * 3, c // 3 * 3
        cand[br:br + 3, bc:bc + 3, v] = False
        cand[r, c] = np.arange(10) == v
    return cand


def solve(grid, depth=0):
    grid = grid.copy()
    while True:
        cand = candidates(grid)
        n = cand.sum(-1)
        if (n == 0).any():
            raise Contradiction(tuple(map(int, np.argwhere(n == 0)[0])))
        single = (grid == 0) & (n == 1)
        if not single.any():
            break
        r, c = np.argwhere(single)[0]
        grid[r, c] = cand[r, c].argmax()
    if grid.all():
        return grid, depth
    masked = np.where(grid == 0, n, 99)
    r, c = np.unravel_index(masked.argmin(), masked.shape)
    for v in np.flatnonzero(cand[r, c]):
        trial = grid.copy()
        trial[r, c] = v
        try:
            return solve(trial, depth + 1)
        except Contradiction:
            pass
    raise Contradiction((int(r), int(c)))


def main() -> int:
    grid = np.array(list(map(int, PUZZLE)), dtype=np.int8).reshape(9, 9)
    solved, depth = solve(grid)
    for i, row in enumerate(solved):
        if i and i % 3 == 0:
            print("------+-------+------")
        print(" | ".join(" ".join(map(str, row[j:j + 3])) for j in (0, 3, 6)))
    ok = all((np.sort(u) == np.arange(1, 10)).all() for g in (solved, solved.T) for u in g)
    print("valid:", ok, "depth:", depth, file=sys.stdout)
    bad = grid.copy()
    bad[0, 2] = 5
    try:
        solve(bad)
    except Contradiction as e:
        print(type(e).__name__, e, e.cell)
    return 0 if ok else 1


if __name__ == "__main__":
    sys.exit(main())
