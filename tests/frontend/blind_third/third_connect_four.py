import numpy as np

ROWS, COLS = 6, 7


class Board:
    def __init__(self):
        self.grid = np.zeros((ROWS, COLS), int)
        self.turn = 1

    def drop(self, col):
        for r in range(ROWS - 1, -1, -1):
            if self.grid[r, col] == 0:
                self.grid[r, col] = self.turn
                won = self.wins(r, col)
                self.turn = 3 - self.turn
                return won
        raise ValueError("column full")

    def wins(self, r, c):
        me = self.grid[r, c]
        for dr, dc in ((0, 1), (1, 0), (1, 1), (1, -1)):
            run = 1
            for sign in (1, -1):
                rr, cc = r + sign * dr, c + sign * dc
                while 0 <= rr < ROWS and 0 <= cc < COLS and self.grid[rr, cc] == me:
                    run += 1
                    rr += sign * dr
                    cc += sign * dc
            if run >= 4:
                return True
        return False

    def __str__(self):
        return "\n".join(" ".join(".XO"[v] for v in row) for row in self.grid)


board = Board()
for move, col in enumerate([3, 3, 4, 4, 2, 2, 1, 5]):
    if board.drop(col):
        print(f"player {3 - board.turn} wins at move {move + 1}")
        break
print(board)
