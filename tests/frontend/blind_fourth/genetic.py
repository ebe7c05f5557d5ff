"""Genetic algorithm for the knapsack and simulated annealing for TSP."""
import math, random
import numpy as np

random.seed(5)
ITEMS = [(random.randint(1, 15), random.randint(10, 60)) for _ in range(12)]
CAP = 40


def fitness(ind):
    w = v = 0
    for bit, (wi, vi) in zip(ind, ITEMS):
        if bit:
            w += wi
            v += vi
    return v if w <= CAP else 0


def crossover(a, b):
    cut = random.randrange(1, len(a))
    return a[:cut] + b[cut:]


def mutate(ind, rate=0.05):
    return [1 - g if random.random() < rate else g for g in ind]


pop = [[random.randint(0, 1) for _ in ITEMS] for _ in range(20)]
for gen in range(10):
    pop.sort(key=fitness, reverse=True)
    elite = pop[:4]
    children = []
    while len(children) < 16:
        p1, p2 = random.sample(pop[:10], 2)
        children.append(mutate(crossover(p1, p2)))
    pop = elite + children
best = max(pop, key=fitness)
print("best", fitness(best), "".join(map(str, best)))


@np.errstate(divide="ignore")
def dp():
    table = [0] * (CAP + 1)
    for w, v in ITEMS:
        for c in range(CAP, w - 1, -1):
            table[c] = max(table[c], table[c - w] + v)
    return table[CAP]


print("optimal", dp())
rng = np.random.default_rng(5)
cities = rng.random((8, 2))
D = np.sqrt(((cities[:, None] - cities) ** 2).sum(-1))


def length(t):
    return D[t, np.roll(t, -1)].sum()


tour = np.arange(8)
cur, T = length(tour), 1.0
while T > 0.05:
    i, j = sorted(rng.choice(8, 2, replace=False))
    cand = tour.copy()
    cand[i:j + 1] = cand[i:j + 1][::-1]
    new = length(cand)
    if new < cur or rng.random() < math.exp((cur - new) / T):
        tour, cur = cand, new
    T *= 0.95
print(tour.tolist(), round(float(cur), 4))
