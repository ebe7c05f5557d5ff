import numpy as np

SIZE = 8
SHIPS = {"carrier": 4, "cruiser": 3, "destroyer": 2}


class Board:
    def __init__(self, rng):
        self.grid = np.zeros((SIZE, SIZE), dtype=np.int8)
        self.shots = np.zeros_like(self.grid, dtype=bool)
        self.rng = rng
        for ident, (name, length) in enumerate(SHIPS.items(), start=1):
            self.place(ident, length)

    def place(self, ident, length):
        while True:
            horizontal = self.rng.random() < 0.5
            r = self.rng.integers(0, SIZE if horizontal else SIZE - length + 1)
            c = self.rng.integers(0, SIZE - length + 1 if horizontal else SIZE)
            cells = self.grid[r, c : c + length] if horizontal else self.grid[r : r + length, c]
            if not cells.any():
                cells[:] = ident
                return

    def fire(self, r, c):
        if self.shots[r, c]:
            return "again"
        self.shots[r, c] = True
        if self.grid[r, c] == 0:
            return "miss"
        ident = self.grid[r, c]
        sunk = self.shots[self.grid == ident].all()
        return "sunk" if sunk else "hit"

    def __str__(self):
        chars = np.where(self.grid > 0, np.where(self.shots, "X", "O"), np.where(self.shots, "~", "."))
        return "\n".join(" ".join(row) for row in chars)


board = Board(np.random.default_rng(4))
tally = {}
order = np.random.default_rng(5).permutation(SIZE * SIZE)
for n, cell in enumerate(order, 1):
    result = board.fire(*divmod(cell, SIZE))
    tally[result] = tally.get(result, 0) + 1
    if tally.get("sunk", 0) == len(SHIPS):
        break
print("shots:", n, tally)
print(board)
