import numpy as np


def jacobi(A, b, x0=None, tol=1e-8, max_iter=500):
    x = np.zeros_like(b, dtype=float) if x0 is None else x0
    D = np.diag(A)
    R = A - np.diagflat(D)
    for k in range(max_iter):
        x_new = (b - R @ x) / D
        if np.linalg.norm(x_new - x, ord=np.inf) < tol:
            return x_new, k + 1
        x = x_new
    return x, max_iter


def gauss_seidel(A, b, tol=1e-8, max_iter=500):
    n = len(b)
    x = np.zeros(n)
    for k in range(max_iter):
        x_old = x.copy()
        for i in range(n):
            s = A[i, :i] @ x[:i] + A[i, i + 1:] @ x_old[i + 1:]
            x[i] = (b[i] - s) / A[i, i]
        if np.max(np.abs(x - x_old)) < tol:
            break
    return x, k + 1


n = 8
A = 4 * np.eye(n) - np.eye(n, k=1) - np.eye(n, k=-1)
b = np.linspace(1, 2, n)
xj, kj = jacobi(A, b)
xg, kg = gauss_seidel(A, b)
print("jacobi:", kj, "iterations; gauss-seidel:", kg, "iterations")
print(xj.round(6))
np.testing.assert_allclose(xj, xg, rtol=1e-6)
print("residual ok:", np.linalg.norm(A @ xg - b) < 1e-7)
