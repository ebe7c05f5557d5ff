import numpy as np


def step(board):
    n = sum(np.roll(np.roll(board, i, 0), j, 1) for i in (-1, 0, 1) for j in (-1, 0, 1) if (i, j) != (0, 0))
    return ((n == 3) | (board & (n == 2))).astype(int)


def show(board):
    for row in board:
        print("".join("#" if c else "." for c in row))
    print()


board = np.zeros((8, 8), dtype=int)
board[1, 2] = board[2, 3] = board[3, 1] = board[3, 2] = board[3, 3] = 1
for generation in range(4):
    if generation % 2 == 0:
        print("generation", generation, "alive:", board.sum())
        show(board)
    board = step(board)
