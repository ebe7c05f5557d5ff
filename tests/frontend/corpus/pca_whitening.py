# pca(X: float64[40, 6])
import numpy as np


def pca(X, k=3):
    mu, sd = X.mean(0), X.std(0, ddof=1)
    Z = (X - mu) / np.where(sd == 0, 1, sd)
    U, s, Vt = np.linalg.svd(Z, full_matrices=False)
    signs = np.sign(Vt[np.arange(len(Vt)), np.abs(Vt).argmax(axis=1)])
    Vt *= signs[:, np.newaxis]
    U *= signs
    ratio = s**2 / (s**2).sum()
    k = int(np.searchsorted(ratio.cumsum(), 0.8)) + 1
    scores = U[:, :3] * s[:3]
    white = scores / scores.std(0, ddof=1)
    recon = scores @ Vt[:3] * sd + mu
    return ratio, white, np.sqrt(((X - recon) ** 2).mean()), np.round(white.T @ white / (len(X) - 1), 8), k
