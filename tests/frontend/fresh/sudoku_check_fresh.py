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

board = np.array([[int(c) if c != "." else 0 for c in line] for line in puzzle.split()])


def candidates(b, r, c):
    r0, c0 = 3 * (r // 3), 3 * (c // 3)
    used = set(b[r]) | set(b[:, c]) | set(b[r0:r0 + 3, c0:c0 + 3].ravel())
    return [v for v in range(1, 10) if v not in used]


def fill_singles(b):
    changed = True
    rounds = 0
    while changed:
        changed = False
        rounds += 1
        for r, c in zip(*np.where(b == 0)):
            opts = candidates(b, r, c)
            if len(opts) == 1:
                b[r, c] = opts[0]
                changed = True
    return rounds


rounds = fill_singles(board)
print("rounds:", rounds)
print(board)
complete = (board > 0).all()
print("complete:", complete)
if complete:
    target = np.arange(1, 10)
    assert all((np.sort(row) == target).all() for row in board)
    assert all((np.sort(col) == target).all() for col in board.T)
print("box sums:", board.reshape(3, 3, 3, 3).sum(axis=(1, 3)).tolist())
