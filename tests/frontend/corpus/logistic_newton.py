# fit(X: float64[50, 3], y: bool[50])
import numpy as np


def sigmoid(z):
    return np.where(z >= 0, 1 / (1 + np.exp(-np.abs(z))), np.exp(-np.abs(z)) / (1 + np.exp(-np.abs(z))))


def fit(X, y, max_iter=25, tol=1e-10, lam=1e-2):
    y = y.astype(float)
    n, d = X.shape
    w = np.zeros(d)
    history = []
    for i in range(max_iter):
        p = sigmoid(X @ w)
        grad = X.T @ (p - y) + lam * w
        W = p * (1 - p)
        H = (X.T * W) @ X + lam * np.eye(d)
        step = np.linalg.solve(H, grad)
        w = w - step
        if np.linalg.norm(step) < tol:
            break
    acc = ((sigmoid(X @ w) > 0.5) == (y > 0.5)).mean()
    return w, acc, i
