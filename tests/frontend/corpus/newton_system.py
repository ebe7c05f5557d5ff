# solve(start: float64[2])
import numpy as np


def F(v):
    x, y = v
    return np.array([x**2 + y**2 - 4, np.exp(x) + y - 1])


def J(v):
    x, y = v
    return np.array([[2 * x, 2 * y], [np.exp(x), 1]])


def solve(start, tol=1e-10, max_iter=50):
    x = np.clip(start, -2, 2)
    for k in range(max_iter):
        fx = F(x)
        if np.linalg.norm(fx) < tol:
            return x, k
        x = x - np.linalg.solve(J(x), fx)
    return x, max_iter
