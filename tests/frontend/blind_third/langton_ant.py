import numpy as np

size = 21
board = np.zeros((size, size), dtype=bool)
x = y = size // 2
dx, dy = 0, -1
for step in range(1, 301):
    if board[y, x]:
        dx, dy = dy, -dx
    else:
        dx, dy = -dy, dx
    board[y, x] = not board[y, x]
    x = (x + dx) % size
    y = (y + dy) % size
    if step % 100 == 0:
        print(f"step {step}: {board.sum()} black, ant at ({x}, {y})")
ys, xs = np.nonzero(board)
print("bounding box", (xs.min(), ys.min()), (xs.max(), ys.max()))
