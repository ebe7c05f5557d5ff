import numpy as np

ROWS, COLS = 6, 7


class Board:
    def __init__(self):
        self.grid = np.zeros((ROWS, COLS), dtype=int)
        self.turn = 1
        self.moves = []

    def drop(self, col):
        free = [r for r in range(ROWS) if self.grid[r, col] == 0]
        if not free:
            return False
        row = free[-1]
        self.grid[row, col] = self.turn
        self.moves.append((row, col))
        self.turn = 3 - self.turn
        return True

    def winner(self):
        g = self.grid
        for player in (1, 2):
            mask = g == player
            if (mask[:, :-3] & mask[:, 1:-2] & mask[:, 2:-1] & mask[:, 3:]).any():
                return player
            if (mask[:-3] & mask[1:-2] & mask[2:-1] & mask[3:]).any():
                return player
            if (mask[:-3, :-3] & mask[1:-2, 1:-2] & mask[2:-1, 2:-1] & mask[3:, 3:]).any():
                return player
            if (mask[3:, :-3] & mask[2:-1, 1:-2] & mask[1:-2, 2:-1] & mask[:-3, 3:]).any():
                return player
        return 0


b = Board()
for col in [3, 3, 4, 4, 5, 5, 2, 6]:
    b.drop(col)
    w = b.winner()
    if w:
        print(f"player {w} wins after {len(b.moves)} moves")
        break
print(b.grid)
