import numpy as np
from itertools import product, count, takewhile, cycle

SHAPES = {
    "T": ["###", ".#."],
    "S": [".##", "##."],
    "O": ["##", "##"],
}
PIECES = {k: np.array([[c == "#" for c in r] for r in v]) for k, v in SHAPES.items()}


class Board:
    def __init__(self, h=8, w=6):
        self.cells = np.zeros((h, w), bool)
        self.lines = 0

    def fits(self, p, r, c):
        h, w = p.shape
        if r < 0 or c < 0 or r + h > self.cells.shape[0] or c + w > self.cells.shape[1]:
            return False
        return not (self.cells[r:r + h, c:c + w] & p).any()

    def drop(self, p, c):
        r = max(takewhile(lambda r: self.fits(p, r, c), count()), default=None)
        if r is None:
            raise OverflowError("full")
        h, w = p.shape
        self.cells[r:r + h, c:c + w] |= p
        full = self.cells.all(axis=1)
        if n := int(full.sum()):
            self.lines += n
            self.cells = np.vstack([np.zeros((n, self.cells.shape[1]), bool), self.cells[~full]])

    def score(self):
        heights = np.where(self.cells.any(0), self.cells.shape[0] - self.cells.argmax(0), 0)
        holes = sum(int((~col[col.argmax():]).sum()) for col in self.cells.T if col.any())
        return -0.5 * heights.sum() + 0.76 * self.lines - 0.36 * holes - 0.18 * np.abs(np.diff(heights)).sum()

    def __str__(self):
        return "\n".join("".join("█" if v else "·" for v in row) for row in self.cells)

    def copy(self):
        b = Board.__new__(Board)
        b.cells, b.lines = self.cells.copy(), self.lines
        return b


board = Board()
for turn, name in zip(range(9), cycle("TSO")):
    options = []
    for k, c in product(range(4), range(6)):
        p = np.rot90(PIECES[name], k)
        b = board.copy()
        try:
            b.drop(p, c)
        except OverflowError:
            continue
        options.append((b.score(), k, c, b))
    if not options:
        print("game over at", turn)
        break
    s, k, c, board = max(options, key=lambda o: o[:3])
    print(f"{turn}: {name} rot={k} col={c} score={s:.2f}")
print(board)
print("lines", board.lines)
