import numpy as np

rng = np.random.default_rng(7)
H, W, MINES = 6, 7, 8
mines = np.zeros(H * W, dtype=bool)
mines[rng.choice(H * W, size=MINES, replace=False)] = True
mines = mines.reshape(H, W)
padded = np.pad(mines.astype(int), 1)
counts = np.zeros((H, W), dtype=int)
for dy in range(3):
    for dx in range(3):
        if dy == 1 and dx == 1:
            continue
        counts += padded[dy : dy + H, dx : dx + W]
board = np.where(mines, -1, counts)
print(board)
print("safe zero cells:", np.count_nonzero(board == 0))
