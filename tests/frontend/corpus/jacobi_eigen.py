# jacobi(S: float64[4, 4] definite)
import numpy as np


def jacobi(S, sweeps=6):
    A = S.copy()
    n = len(A)
    V = np.eye(n)
    for _ in range(sweeps):
        for p in range(n - 1):
            for q in range(p + 1, n):
                if abs(A[p, q]) < 1e-14:
                    continue
                theta = 0.5 * np.arctan2(2 * A[p, q], A[q, q] - A[p, p])
                c, s = np.cos(theta), np.sin(theta)
                G = np.eye(n)
                G[p, p] = G[q, q] = c
                G[p, q], G[q, p] = s, -s
                A = G.T @ A @ G
                V = V @ G
    vals = np.diag(A)
    idx = np.argsort(vals)
    return vals[idx], np.abs(V[:, idx])
