"""LU and QR decompositions by hand, checked against NumPy."""
import numpy as np


def lu(A):
    n = A.shape[0]
    U = A.astype(float).copy()
    L = np.eye(n)
    P = np.eye(n)
    for k in range(n - 1):
        p = k + np.argmax(np.abs(U[k:, k]))
        if p != k:
            U[[k, p]] = U[[p, k]]
            P[[k, p]] = P[[p, k]]
            L[[k, p], :k] = L[[p, k], :k]
        for i in range(k + 1, n):
            L[i, k] = U[i, k] / U[k, k]
            U[i, k:] -= L[i, k] * U[k, k:]
    return P, L, U


def gram_schmidt(A):
    m, n = A.shape
    Q = np.zeros((m, n))
    R = np.zeros((n, n))
    for j in range(n):
        v = A[:, j].astype(float)
        for i in range(j):
            R[i, j] = Q[:, i] @ A[:, j]
            v = v - R[i, j] * Q[:, i]
        R[j, j] = np.linalg.norm(v)
        Q[:, j] = v / R[j, j]
    return Q, R


A = np.array([[2, 1, 1], [4, 3, 3], [8, 7, 9]])
P, L, U = lu(A)
print("L =\n", L, "\nU =\n", U, sep="")
print("PA = LU:", np.allclose(P @ A, L @ U))
Q, R = gram_schmidt(A)
print("QR = A:", np.allclose(Q @ R, A))
print("orthogonality error: {:.1e}".format(np.abs(Q.T @ Q - np.eye(3)).max()))
print("det:", round(np.linalg.det(A), 6), "product of pivots:", np.prod(np.diag(U)))
x = np.linalg.solve(A, [1, 2, 3])
print("solution", x, "residual", np.linalg.norm(A @ x - [1, 2, 3]) < 1e-10)
