import itertools

import numpy as np

rng = np.random.default_rng(14)
cities = rng.integers(0, 100, size=(8, 2))
dist = np.linalg.norm(cities[:, None] - cities[None, :], axis=-1)


def length(tour):
    return sum(dist[tour[i], tour[(i + 1) % len(tour)]] for i in range(len(tour)))


def nearest_neighbour(start=0):
    unvisited = set(range(len(cities))) - {start}
    tour = [start]
    while unvisited:
        nxt = min(unvisited, key=lambda c: dist[tour[-1], c])
        unvisited.remove(nxt)
        tour.append(nxt)
    return tour


def two_opt(tour):
    improved = True
    while improved:
        improved = False
        for i in range(1, len(tour) - 1):
            for j in range(i + 1, len(tour)):
                new = tour[:i] + tour[i : j + 1][::-1] + tour[j + 1 :]
                if length(new) < length(tour) - 1e-9:
                    tour = new
                    improved = True
    return tour


nn = nearest_neighbour()
opt = two_opt(nn)
print("nearest neighbour:", nn, f"{length(nn):.2f}")
print("2-opt:", opt, f"{length(opt):.2f}")
lower = min(length((0,) + p) for p in itertools.permutations(range(1, 6)))
print(f"best of the first six cities: {lower:.2f}")
