import math
import random

import numpy as np

random.seed(12)
cities = np.array([(random.random(), random.random()) for _ in range(9)])
D = np.linalg.norm(cities[:, None] - cities[None, :], axis=-1)


def length(tour):
    return sum(D[a, b] for a, b in zip(tour, tour[1:] + tour[:1]))


tour = list(range(len(cities)))
random.shuffle(tour)
best, best_len = tour[:], length(tour)
cur = best_len
T = 1.0
trace = []
while T > 0.02:
    for _ in range(8):
        i, j = sorted(random.sample(range(len(tour)), 2))
        cand = tour[:i] + tour[i:j + 1][::-1] + tour[j + 1:]
        new = length(cand)
        if new < cur or random.random() < math.exp((cur - new) / T):
            tour, cur = cand, new
            if cur < best_len:
                best, best_len = tour[:], cur
    trace.append(cur)
    T *= 0.85
k = best.index(0)
best = best[k:] + best[:k]
print("best tour", best, f"{best_len:.5f}")
print("temperatures", len(trace), "final", round(float(trace[-1]), 5))
nn, left = [0], set(range(1, len(cities)))
while left:
    nxt = min(left, key=lambda c: D[nn[-1], c])
    nn.append(nxt)
    left.remove(nxt)
print("nearest neighbour %.5f" % length(nn))
