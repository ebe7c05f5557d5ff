# predict(X: float64[30, 4], y: int64[30] index, X_test: float64[8, 4])
import numpy as np


def predict(X, y, X_test):
    scores = []
    for c in range(3):
        Xc = X[y == c]
        mu, var = Xc.mean(axis=0), Xc.var(axis=0) + 1e-9
        logp = -0.5 * (np.log(2 * np.pi * var) + (X_test - mu) ** 2 / var)
        scores.append(logp.sum(axis=1) + np.log(len(Xc) / len(X)))
    return np.argmax(np.array(scores), axis=0)
