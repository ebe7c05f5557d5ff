"""Adaptive Runge-Kutta-Fehlberg for the Van der Pol oscillator."""
from typing import Callable, NamedTuple

import numpy as np


class Solution(NamedTuple):
    t: np.ndarray
    y: np.ndarray
    rejected: int


A = [
    [],
    [1 / 4],
    [3 / 32, 9 / 32],
    [1932 / 2197, -7200 / 2197, 7296 / 2197],
    [439 / 216, -8, 3680 / 513, -845 / 4104],
    [-8 / 27, 2, -3544 / 2565, 1859 / 4104, -11 / 40],
]
C = [0, 1 / 4, 3 / 8, 12 / 13, 1, 1 / 2]
B5 = [16 / 135, 0, 6656 / 12825, 28561 / 56430, -9 / 50, 2 / 55]
B4 = [25 / 216, 0, 1408 / 2565, 2197 / 4104, -1 / 5, 0]


def solve(f: Callable, y0, t0: float, t1: float, tol: float = 1e-4, h: float = 0.1) -> Solution:
    t, y = t0, np.asarray(y0, float)
    ts, ys, rejected = [t], [y], 0
    while t < t1:
        h = min(h, t1 - t)
        k = []
        for row, c in zip(A, C):
            k.append(f(t + c * h, y + h * sum((a * ki for a, ki in zip(row, k)), np.zeros_like(y))))
        y5 = y + h * sum(b * ki for b, ki in zip(B5, k))
        y4 = y + h * sum(b * ki for b, ki in zip(B4, k))
        err = np.max(np.abs(y5 - y4))
        if err <= tol:
            t += h
            y = y5
            ts.append(t)
            ys.append(y)
        else:
            rejected += 1
        h *= min(2.0, max(0.2, 0.9 * (tol / (err + 1e-15)) ** 0.2))
    return Solution(np.array(ts), np.array(ys), rejected)


mu = 1.5
sol = solve(lambda t, y: np.array([y[1], mu * (1 - y[0] ** 2) * y[1] - y[0]]), [2.0, 0.0], 0.0, 6.0)
print(f"{len(sol.t)} points, {sol.rejected} rejected, final {sol.y[-1].round(4)}")
steps = np.diff(sol.t)
print(f"step min {steps.min():.4f} max {steps.max():.4f}")
