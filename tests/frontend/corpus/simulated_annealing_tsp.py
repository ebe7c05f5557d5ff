import numpy as np

rng = np.random.default_rng(11)
cities = rng.random((8, 2))
dist = np.sqrt(((cities[:, None] - cities[None]) ** 2).sum(-1))


def length(tour):
    return dist[tour, np.roll(tour, -1)].sum()


tour = np.arange(8)
best = current = length(tour)
T = 1.0
while T > 0.05:
    i, j = sorted(rng.choice(8, 2, replace=False))
    cand = tour.copy()
    cand[i : j + 1] = cand[i : j + 1][::-1]
    new = length(cand)
    if new < current or rng.random() < np.exp((current - new) / T):
        tour, current = cand, new
        best = min(best, current)
    T *= 0.95
print(f"best length {best:.4f}")
