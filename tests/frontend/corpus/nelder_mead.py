# optimise(x0: float64[2])
import numpy as np


def himmelblau(v):
    return (v[0] ** 2 + v[1] - 11) ** 2 + (v[0] + v[1] ** 2 - 7) ** 2


def optimise(x0, iters=40):
    simplex = np.array([x0, x0 + [0.5, 0.0], x0 + [0.0, 0.5]])
    for _ in range(iters):
        values = np.array([himmelblau(p) for p in simplex])
        order = np.argsort(values)
        simplex, values = simplex[order], values[order]
        centroid = simplex[:-1].mean(axis=0)
        reflected = centroid + (centroid - simplex[-1])
        fr = himmelblau(reflected)
        if fr < values[0]:
            expanded = centroid + 2 * (centroid - simplex[-1])
            simplex[-1] = expanded if himmelblau(expanded) < fr else reflected
        elif fr < values[-2]:
            simplex[-1] = reflected
        else:
            contracted = centroid + 0.5 * (simplex[-1] - centroid)
            if himmelblau(contracted) < values[-1]:
                simplex[-1] = contracted
            else:
                simplex[1:] = simplex[0] + 0.5 * (simplex[1:] - simplex[0])
    return simplex[0], himmelblau(simplex[0])
