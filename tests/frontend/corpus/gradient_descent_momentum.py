# minimise(start: float64[2])
import numpy as np


def rosenbrock(p):
    x, y = p
    return (1 - x) ** 2 + 100 * (y - x**2) ** 2


def numeric_grad(f, p, h=1e-6):
    g = np.zeros_like(p)
    for i in range(len(p)):
        e = np.zeros_like(p)
        e[i] = h
        g[i] = (f(p + e) - f(p - e)) / (2 * h)
    return g


def minimise(start, lr=1e-4, mu=0.9, max_iter=300):
    p = np.clip(start, -1.5, 1.5)
    v = np.zeros(2)
    best = rosenbrock(p)
    for k in range(max_iter):
        g = numeric_grad(rosenbrock, p)
        norm = np.linalg.norm(g)
        if norm > 10:
            g = g * (10 / norm)
        v = mu * v - lr * g
        p = p + v
        f = rosenbrock(p)
        if f < best:
            best = f
    return p, best
