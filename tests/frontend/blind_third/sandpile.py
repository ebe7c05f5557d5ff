import numpy as np


def topple(pile):
    topples = 0
    while True:
        over = pile >= 4
        if not np.any(over):
            return pile, topples
        topples += int(over.sum())
        pile = pile - 4 * over
        pile[1:] += over[:-1]
        pile[:-1] += over[1:]
        pile[:, 1:] += over[:, :-1]
        pile[:, :-1] += over[:, 1:]


pile = np.zeros((11, 11), dtype=np.int64)
sizes = []
for grain in range(80):
    pile[5, 5] += 1
    pile, n = topple(pile)
    sizes.append(n)
print("avalanches:", sum(1 for s in sizes if s), "largest:", max(sizes), "grains:", pile.sum())
print(pile[3:8, 3:8])
