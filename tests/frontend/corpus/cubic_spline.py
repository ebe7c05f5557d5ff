# interpolate(y: float64[8])
import numpy as np


def natural_spline(x, y):
    n = len(x) - 1
    h = np.diff(x)
    A = np.zeros((n + 1, n + 1))
    rhs = np.zeros(n + 1)
    A[0, 0] = A[n, n] = 1
    for i in range(1, n):
        A[i, i - 1 : i + 2] = h[i - 1], 2 * (h[i - 1] + h[i]), h[i]
        rhs[i] = 3 * ((y[i + 1] - y[i]) / h[i] - (y[i] - y[i - 1]) / h[i - 1])
    c = np.linalg.solve(A, rhs)
    b = np.diff(y) / h - h * (2 * c[:-1] + c[1:]) / 3
    d = np.diff(c) / (3 * h)

    def evaluate(t):
        i = np.clip(np.searchsorted(x, t) - 1, 0, n - 1)
        dt = t - x[i]
        return y[i] + b[i] * dt + c[i] * dt**2 + d[i] * dt**3

    return evaluate


def interpolate(y):
    x = np.arange(len(y), dtype=float)
    f = natural_spline(x, y)
    grid = np.linspace(0, len(y) - 1, 29)
    return f(grid)
