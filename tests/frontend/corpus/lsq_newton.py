# fit_exponential(t: float64[20], y: float64[20])
import numpy as np


def model(p, t):
    return p[0] * np.exp(-p[1] * t) + p[2]


def jac(p, t):
    e = np.exp(-p[1] * t)
    return np.column_stack((e, -p[0] * t * e, np.ones_like(t)))


def fit_exponential(t, y):
    """Levenberg-Marquardt with a trust update that the run decides."""
    t = np.abs(t)
    y = 2 * np.exp(-0.7 * t) + 0.3 + 0.05 * y
    p = np.array([1.0, 1.0, 0.0])
    lam = 1e-3
    cost = np.sum((y - model(p, t)) ** 2)
    n_accept = 0
    for _ in range(30):
        r = y - model(p, t)
        J = jac(p, t)
        H = J.T @ J
        g = J.T @ r
        step = np.linalg.solve(H + lam * np.diag(np.diag(H)), g)
        trial = p + step
        c = np.sum((y - model(trial, t)) ** 2)
        if c < cost:
            if cost - c < 1e-12:
                p, cost = trial, c
                break
            p, cost = trial, c
            lam /= 10
            n_accept += 1
        else:
            lam *= 10
    cov = np.linalg.inv(jac(p, t).T @ jac(p, t)) * cost / (len(t) - 3)
    return p, np.sqrt(np.diag(cov)), cost, n_accept
