from __future__ import annotations
import math
from typing import Iterator
import numpy as np


def hmc(logp, grad, q0, n, eps, L, rng) -> Iterator[tuple[np.ndarray, bool]]:
    q = np.asarray(q0, dtype=float)
    for _ in range(n):
        p0 = rng.standard_normal(q.shape)
        qn, p = q.copy(), p0 + 0.5 * eps * grad(q)
        for i in range(L):
            qn = qn + eps * p
            if i != L - 1:
                p = p + eps * grad(qn)
        p = p + 0.5 * eps * grad(qn)
        dH = (logp(qn) - 0.5 * p @ p) - (logp(q) - 0.5 * p0 @ p0)
        if math.log(rng.random()) < dH:
            q = qn
            yield q, True
        else:
            yield q, False


prec = np.linalg.inv(np.array([[1.0, 0.8], [0.8, 1.0]]))
rng = np.random.default_rng(8)
samples, accepted = zip(*hmc(lambda q: -0.5 * q @ prec @ q, lambda q: -prec @ q, [3.0, -3.0], 120, 0.2, 8, rng))
S = np.array(samples)[20:]
print("acceptance", np.mean(accepted))
print(S.mean(axis=0).round(3), np.corrcoef(S.T)[0, 1].round(3))


def ess(x):
    x = x - x.mean()
    n = len(x)
    acf = np.correlate(x, x, mode="full")[n - 1:] / (x @ x)
    cut = np.argmax(acf < 0.05) or n
    return n / (1 + 2 * acf[1:cut].sum())


print([round(float(ess(c)), 1) for c in S.T])
print("quantiles", np.percentile(S[:, 0], [5, 50, 95]).round(3))
