import numpy as np

rng = np.random.default_rng(8)
POP, GENES, GENERATIONS = 12, 16, 10
pop = rng.integers(0, 2, size=(POP, GENES))
for g in range(GENERATIONS):
    fitness = pop.sum(axis=1)
    order = np.argsort(fitness, kind="stable")[::-1]
    parents = pop[order[: POP // 2]]
    cut = rng.integers(1, GENES, size=POP // 2)
    mates = parents[rng.permutation(POP // 2)]
    mask = np.arange(GENES)[None, :] < cut[:, None]
    children = np.where(mask, parents, mates)
    flips = rng.random(children.shape) < 0.02
    children = np.where(flips, 1 - children, children)
    pop = np.vstack([parents, children])
fitness = pop.sum(axis=1)
print("best:", fitness.max(), "mean:", fitness.mean())
print(pop[fitness.argmax()])
