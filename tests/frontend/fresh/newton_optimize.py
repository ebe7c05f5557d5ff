from typing import Callable, Optional

import numpy as np


def numerical_gradient(f: Callable[[np.ndarray], float], x: np.ndarray, h: float = 1e-5) -> np.ndarray:
    grad = np.zeros_like(x)
    for i in range(x.size):
        e = np.zeros_like(x)
        e[i] = h
        grad[i] = (f(x + e) - f(x - e)) / (2 * h)
    return grad


def rosenbrock(x):
    return (1 - x[0]) ** 2 + 100 * (x[1] - x[0] ** 2) ** 2


def gradient_descent(f, x0, lr=1e-3, max_iter=1000, tol=1e-4, callback: Optional[Callable] = None):
    x = np.asarray(x0, dtype=float)
    for it in range(max_iter):
        g = numerical_gradient(f, x)
        if np.linalg.norm(g) < tol:
            return x, it
        # backtracking line search
        step = 1.0
        while f(x - step * g) > f(x) - 0.5 * step * g.dot(g):
            step *= 0.5
        x = x - step * g
        if callback is not None and it % 50 == 0:
            callback(it, x)
    return x, max_iter


def newton_1d(f, df, x0, tol=1e-12):
    x = x0
    for _ in range(50):
        dx = f(x) / df(x)
        x -= dx
        if abs(dx) < tol:
            return x
    raise RuntimeError("no convergence")


def main():
    log = []
    x, its = gradient_descent(rosenbrock, [-1.0, 1.0], max_iter=120, callback=lambda i, v: log.append((i, v.round(3).tolist())))
    print("iterations:", its)
    print("x:", np.round(x, 3))
    print(log)
    root = newton_1d(lambda x: np.cos(x) - x, lambda x: -np.sin(x) - 1, 0.5)
    print(f"cos(x) = x at {root:.10f}")
    try:
        newton_1d(lambda x: x**2 + 1, lambda x: 2 * x, 0.5)
    except RuntimeError as exc:
        print("failed:", exc)


if __name__ == "__main__":
    main()
