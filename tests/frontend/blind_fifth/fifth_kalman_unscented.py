import numpy as np
from typing import Callable, NamedTuple


class Gaussian(NamedTuple):
    mean: np.ndarray
    cov: np.ndarray


def sigma_points(g: Gaussian, kappa: float):
    n = g.mean.shape[0]
    L = np.linalg.cholesky((n + kappa) * g.cov)
    pts = np.vstack([g.mean, g.mean + L.T, g.mean - L.T])
    w = np.full(2 * n + 1, 1 / (2 * (n + kappa)))
    w[0] = kappa / (n + kappa)
    return pts, w


def transform(g: Gaussian, f: Callable, noise: np.ndarray, kappa: float = 1.0):
    pts, w = sigma_points(g, kappa)
    ys = np.array([f(p) for p in pts])
    mean = w @ ys
    d = ys - mean
    cov = (w[:, None] * d).T @ d + noise
    cross = (w[:, None] * (pts - g.mean)).T @ d
    return Gaussian(mean, cov), cross


def step(g, z, f, h, Q, R):
    pred, _ = transform(g, f, Q)
    zhat, C = transform(pred, h, R)
    K = np.linalg.solve(zhat.cov, C.T).T
    return Gaussian(pred.mean + K @ (z - zhat.mean), pred.cov - K @ zhat.cov @ K.T)


dt = 0.1
f = lambda x: np.array([x[0] + dt * x[1], x[1] - dt * 9.81 * np.sin(x[0])])
h = lambda x: np.array([np.sin(x[0])])
rng = np.random.default_rng(3)
truth = np.array([0.8, 0.0])
est = Gaussian(np.array([0.2, 0.0]), np.eye(2))
errs = []
for k in range(40):
    truth = f(truth)
    z = h(truth) + rng.normal(scale=0.05, size=1)
    est = step(est, z, f, h, Q=1e-4 * np.eye(2), R=np.array([[0.0025]]))
    errs.append(truth - est.mean)
    if k % 10 == 9:
        print(f"{k + 1:3d}  truth={truth[0]:+.4f}  est={est.mean[0]:+.4f}  sd={np.sqrt(est.cov[0, 0]):.4f}")
errs = np.stack(errs)
print("rmse", np.sqrt((errs[10:] ** 2).mean(0)).round(5))
assert np.allclose(est.cov, est.cov.T)
