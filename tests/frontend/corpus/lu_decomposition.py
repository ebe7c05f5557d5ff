# lu(A: float64[5, 5])
import numpy as np


def lu(A):
    n = A.shape[0]
    U = A.astype(np.float64).copy()
    L = np.eye(n)
    P = np.eye(n)
    for k in range(n - 1):
        p = np.argmax(np.abs(U[k:, k])) + k
        if p != k:
            U[[k, p]] = U[[p, k]]
            P[[k, p]] = P[[p, k]]
            L[[k, p], :k] = L[[p, k], :k]
        for i in range(k + 1, n):
            L[i, k] = U[i, k] / U[k, k]
            U[i, k:] -= L[i, k] * U[k, k:]
    det = np.prod(np.diag(U))
    return P, L, U, det
