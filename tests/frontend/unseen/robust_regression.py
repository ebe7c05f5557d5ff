"""Iteratively reweighted least squares with Huber weights."""
import numpy as np


def huber_regression(X, y, delta=1.345, max_iter=50, tol=1e-6):
    X = np.asarray(X, dtype=float)
    y = np.asarray(y, dtype=float)
    Xb = np.c_[np.ones((X.shape[0], 1)), X]
    theta = np.zeros(Xb.shape[1])
    weights = np.ones(X.shape[0])
    for it in range(max_iter):
        W = np.diag(weights)
        try:
            theta_new = np.linalg.inv(Xb.T @ W @ Xb) @ Xb.T @ W @ y
        except np.linalg.LinAlgError:
            break
        res = np.abs(y - Xb @ theta_new)
        sigma = np.median(res) / 0.6745
        weights = np.where(res <= delta * sigma, 1, (delta * sigma) / res)
        if np.linalg.norm(theta_new - theta) < tol:
            theta = theta_new
            break
        theta = theta_new
    return theta[0], theta[1:], it + 1, weights


rng = np.random.default_rng(7)
X = rng.uniform(0, 10, size=(30, 2))
y = 1.5 + X @ np.array([2.0, -0.5]) + rng.normal(scale=0.2, size=30)
y[[3, 11]] += 15
intercept, coefs, iterations, w = huber_regression(X, y)
print("intercept:", round(intercept, 4))
print("coefficients:", np.round(coefs, 4))
print("iterations:", iterations)
print("down-weighted:", np.where(w < 0.5)[0])
