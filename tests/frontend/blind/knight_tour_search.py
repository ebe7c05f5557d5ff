import numpy as np

MOVES = [(1, 2), (2, 1), (2, -1), (1, -2), (-1, -2), (-2, -1), (-2, 1), (-1, 2)]


class Board:
    def __init__(self, n):
        self.n = n
        self.grid = -np.ones((n, n), dtype=np.int32)

    def free(self, r, c):
        return 0 <= r < self.n and 0 <= c < self.n and self.grid[r, c] < 0

    def moves(self, r, c):
        return [(r + a, c + b) for a, b in MOVES if self.free(r + a, c + b)]

    def tour(self, r, c):
        for step in range(self.n * self.n):
            self.grid[r, c] = step
            options = self.moves(r, c)
            if not options:
                return step == self.n * self.n - 1
            r, c = min(options, key=lambda m: (len(self.moves(*m)), m))
        return True

    def __str__(self):
        w = len(str(self.n**2))
        return "\n".join(" ".join(str(v).rjust(w) for v in row) for row in self.grid)


board = Board(6)
print("complete:", board.tour(0, 0))
print(board)
print("visited", np.count_nonzero(board.grid >= 0))
path = np.argsort(board.grid, axis=None)
rc = np.stack(np.unravel_index(path, board.grid.shape), axis=1)
steps = np.abs(np.diff(rc, axis=0))
print("all knight moves:", bool(np.all(np.sort(steps, axis=1) == [1, 2])))
