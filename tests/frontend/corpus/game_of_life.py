import numpy as np
def step(board):
    n = sum(np.roll(np.roll(board, i, 0), j, 1) for i in (-1, 0, 1) for j in (-1, 0, 1) if (i, j) != (0, 0))
    return (n == 3) | (board & (n == 2))
board = np.zeros((8, 8), dtype=bool)
board[1, 2] = board[2, 3] = board[3, 1] = board[3, 2] = board[3, 3] = True
for _ in range(5):
    board = step(board)
for row in board:
    print(''.join('#' if c else '.' for c in row))
