import numpy as np


def solve(n):
    board = np.full(n, -1)
    solutions = []

    def safe(row, col):
        for r in range(row):
            if board[r] == col or abs(board[r] - col) == row - r:
                return False
        return True

    def place(row):
        if row == n:
            solutions.append(board.copy())
            return
        for col in range(n):
            if safe(row, col):
                board[row] = col
                place(row + 1)
                board[row] = -1

    place(0)
    return solutions


sols = solve(5)
print(len(sols))
print(np.array(sols))
