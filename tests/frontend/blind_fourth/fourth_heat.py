import sys
import numpy as np


def tridiag_solve(a, b, c, d):
    """Thomas algorithm."""
    n = len(d)
    cp, dp = np.zeros(n), np.zeros(n)
    cp[0] = c[0] / b[0]
    dp[0] = d[0] / b[0]
    for i in range(1, n):
        m = b[i] - a[i] * cp[i - 1]
        cp[i] = c[i] / m if i < n - 1 else 0
        dp[i] = (d[i] - a[i] * dp[i - 1]) / m
    x = np.zeros(n)
    x[-1] = dp[-1]
    for i in range(n - 2, -1, -1):
        x[i] = dp[i] - cp[i] * x[i + 1]
    return x


def crank_nicolson(u0, alpha, dx, dt, steps):
    r = alpha * dt / (2 * dx**2)
    n = u0.size
    a = np.full(n, -r); b = np.full(n, 1 + 2 * r); c = np.full(n, -r)
    b[0] = b[-1] = 1; c[0] = a[-1] = 0
    u = u0.copy()
    for _ in range(steps):
        rhs = u.copy()
        rhs[1:-1] = r * u[:-2] + (1 - 2 * r) * u[1:-1] + r * u[2:]
        u = tridiag_solve(a, b, c, rhs)
    return u


def jacobi(u, f, h, tol=1e-3, max_iter=200):
    for it in range(max_iter):
        new = u.copy()
        new[1:-1, 1:-1] = 0.25 * (u[2:, 1:-1] + u[:-2, 1:-1] + u[1:-1, 2:] + u[1:-1, :-2] - h * h * f[1:-1, 1:-1])
        err = np.max(np.abs(new - u))
        u = new
        if err < tol:
            break
    else:
        print("did not converge", file=sys.stderr)
    return u, it, err


x, dx = np.linspace(0, 1, 21, retstep=True)
u = crank_nicolson(np.sin(np.pi * x), 1.0, dx, 0.01, 10)
exact = np.exp(-np.pi**2 * 0.1) * np.sin(np.pi * x)
print(f"max error {np.abs(u - exact).max():.2e}")
U = np.zeros((9, 9))
U[0] = 1
V, it, err = jacobi(U, np.zeros_like(U), 1 / 8)
print(it, f"{err:.2e}")
print(V[::4, ::4])
print(np.gradient(V, 1 / 8)[0][4].round(3))
print(np.trapezoid(V[4], dx=1 / 8) if hasattr(np, "trapezoid") else np.trapz(V[4], dx=1 / 8))
