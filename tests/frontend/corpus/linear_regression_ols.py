# fit(X: float64[40, 3], y: float64[40])
import numpy as np


def add_bias(X):
    return np.hstack([np.ones((X.shape[0], 1)), X])


def fit(X, y):
    Xb = add_bias(X)
    beta, *_ = np.linalg.lstsq(Xb, y, rcond=None)
    pred = Xb @ beta
    residuals = y - pred
    ss_res = np.sum(residuals**2)
    ss_tot = np.sum((y - np.mean(y)) ** 2)
    r2 = 1 - ss_res / ss_tot
    n, p = Xb.shape
    sigma2 = ss_res / (n - p)
    cov = sigma2 * np.linalg.inv(Xb.T @ Xb)
    se = np.sqrt(np.diag(cov))
    print(f"R^2 = {r2:.4f}")
    for name, b, s in zip(["const", "x1", "x2", "x3"], beta, se):
        print(f"{name:6s} {b:10.4f} {s:10.4f} {b / s:8.2f}")
    return beta, se
