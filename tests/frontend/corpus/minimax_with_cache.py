import numpy as np
from functools import lru_cache

LINES = [(0,1,2),(3,4,5),(6,7,8),(0,3,6),(1,4,7),(2,5,8),(0,4,8),(2,4,6)]

def winner(b):
    for i, j, k in LINES:
        if b[i] != 0 and b[i] == b[j] == b[k]:
            return b[i]
    return 0

@lru_cache(maxsize=None)
def minimax(b, player):
    w = winner(b)
    if w:
        return w, None
    moves = [i for i, v in enumerate(b) if v == 0]
    if not moves:
        return 0, None
    best = None
    for m in moves:
        nb = b[:m] + (player,) + b[m+1:]
        s, _ = minimax(nb, -player)
        if best is None or s * player > best[0] * player:
            best = (s, m)
    return best

board = (1, -1, 1, 0, -1, 0, 0, 0, 0)
score, move = minimax(board, 1)
print(score, move, minimax.cache_info().currsize)
arr = np.array(board).reshape(3, 3)
print(arr)
