#!/usr/bin/env python3
import re
from itertools import islice

import numpy as np


def parse_rule(rule):
    m = re.match(r"B(\d*)/S(\d*)", rule)
    return {int(c) for c in m.group(1)}, {int(c) for c in m.group(2)}


def evolve(board, rule="B3/S23"):
    born, survive = parse_rule(rule)
    while True:
        yield board
        n = sum(np.roll(board, (i, j), (0, 1)) for i in (-1, 0, 1) for j in (-1, 0, 1) if (i, j) != (0, 0))
        board = np.where(board == 1, np.isin(n, list(survive)), np.isin(n, list(born))).astype(int)


def show(board):
    return "\n".join("".join(".#"[c] for c in row) for row in board)


board = np.zeros((8, 8), dtype=int)
board[2, 3] = board[3, 4] = board[4, 2:5] = 1
for t, b in enumerate(islice(evolve(board), 5)):
    print(f"generation {t}: {b.sum()} alive")
print(show(b))
rng = np.random.default_rng(5)
soup = (rng.random((12, 12)) < 0.35).astype(int)
history = [int(b.sum()) for b in islice(evolve(soup, "B36/S23"), 12)]
print(history)
