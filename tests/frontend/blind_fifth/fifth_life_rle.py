import re
import numpy as np


def parse_rle(s):
    cells, x, y = [], 0, 0
    for count, tag in re.findall(r"(\d*)([bo$!])", s):
        n = int(count or 1)
        if tag == "b":
            x += n
        elif tag == "o":
            cells.extend((y, x + i) for i in range(n))
            x += n
        elif tag == "$":
            y += n
            x = 0
        else:
            break
    return cells


def step(board):
    neighbours = sum(np.roll(board, (dy, dx), (0, 1)) for dy in (-1, 0, 1) for dx in (-1, 0, 1) if (dy, dx) != (0, 0))
    return ((neighbours == 3) | (board.astype(bool) & (neighbours == 2))).astype(np.uint8)


def show(board):
    return "\n".join("".join(".#"[c] for c in row) for row in board)


GLIDER = "bob$2bo$3o!"
RPENT = "b2o$2ob$bo!"
grid = np.zeros((12, 12), np.uint8)
for y, x in parse_rle(GLIDER):
    grid[y + 1, x + 1] = 1
seen = {}
gen = 0
while (key := grid.tobytes()) not in seen and gen < 60:
    seen[key] = gen
    grid = step(grid)
    gen += 1
print("repeats" if key in seen else "no repeat", "after", gen, "first seen", seen.get(key))
print(show(grid))
board = np.zeros((20, 20), np.uint8)
ys, xs = zip(*parse_rle(RPENT))
board[np.array(ys) + 9, np.array(xs) + 9] = True
pop = [int(board.sum())]
for _ in range(25):
    board = step(board)
    pop.append(int(board.sum()))
print(pop, max(pop), pop.index(max(pop)))
ys, xs = np.nonzero(board)
print(f"bounding box: {ys.min()}..{ys.max()} x {xs.min()}..{xs.max()}")
