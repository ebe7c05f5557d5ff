import math
from typing import Callable, NamedTuple

import numpy as np


class Sample(NamedTuple):
    theta: np.ndarray
    logp: float


def metropolis(logp: Callable[[np.ndarray], float], start: np.ndarray, steps: int, scale: float, rng) -> tuple[list[Sample], float]:
    current = Sample(start, logp(start))
    chain: list[Sample] = []
    accepted = 0
    for _ in range(steps):
        prop = current.theta + scale * rng.standard_normal(start.shape)
        lp = logp(prop)
        if math.log(rng.random()) < lp - current.logp:
            current = Sample(prop, lp)
            accepted += 1
        chain.append(current)
    return chain, accepted / steps


rng = np.random.default_rng(2024)
x = np.linspace(-1, 1, 20)
y = 1.5 * x - 0.5 + rng.normal(scale=0.2, size=x.shape)


def log_posterior(theta):
    a, b, log_s = theta
    s = np.exp(log_s)
    resid = y - a * x - b
    return -0.5 * np.sum((resid / s) ** 2) - len(y) * log_s - 0.5 * (a**2 + b**2) / 10


chain, rate = metropolis(log_posterior, np.array([0.0, 0.0, 0.0]), 300, 0.15, rng)
draws = np.stack([s.theta for s in chain[100:]])
best = max(chain, key=lambda s: s.logp)
print(f"acceptance {rate:.2%}")
for name, col in zip(("slope", "intercept", "log sigma"), draws.T):
    print(f"{name:>10}: {col.mean():8.4f} +/- {col.std(ddof=1):.4f}")
print("best", np.round(best.theta, 3), round(best.logp, 3))
