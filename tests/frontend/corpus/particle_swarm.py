# swarm(x0: float64[10, 2])
import numpy as np


def sphere(x):
    return np.sum(x**2 - 10 * np.cos(2 * np.pi * x) + 10, axis=-1)


def swarm(x0, iters=25, w=0.7, c1=1.4, c2=1.4):
    rng = np.random.default_rng(1)
    x = x0.copy()
    v = np.zeros_like(x)
    pbest, pval = x.copy(), sphere(x)
    gbest = pbest[np.argmin(pval)].copy()
    history = []
    for _ in range(iters):
        r1, r2 = rng.random(x.shape), rng.random(x.shape)
        v = w * v + c1 * r1 * (pbest - x) + c2 * r2 * (gbest - x)
        x = np.clip(x + v, -5.12, 5.12)
        val = sphere(x)
        improved = val < pval
        pbest[improved] = x[improved]
        pval[improved] = val[improved]
        gbest = pbest[pval.argmin()].copy()
        history.append(pval.min())
    return gbest, np.array(history)
