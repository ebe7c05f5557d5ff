import numpy as np


def thomas(a, b, c, d):
    """Tridiagonal solver: sub, main and super diagonals."""
    n = len(d)
    cp, dp = np.zeros(n), np.zeros(n)
    cp[0] = c[0] / b[0]
    dp[0] = d[0] / b[0]
    for i in range(1, n):
        denom = b[i] - a[i] * cp[i - 1]
        cp[i] = c[i] / denom if i < n - 1 else 0.0
        dp[i] = (d[i] - a[i] * dp[i - 1]) / denom
    x = np.zeros(n)
    x[-1] = dp[-1]
    for i in range(n - 2, -1, -1):
        x[i] = dp[i] - cp[i] * x[i + 1]
    return x


L, T, nx, nt = 1.0, 0.1, 20, 25
dx, dt = L / nx, T / nt
r = dt / (2 * dx * dx)
x = np.linspace(0, L, nx + 1)
u = np.sin(np.pi * x)
u[0] = u[-1] = 0.0
m = nx - 1
for _ in range(nt):
    rhs = u[1:-1] + r * (u[2:] - 2 * u[1:-1] + u[:-2])
    u[1:-1] = thomas(np.full(m, -r), np.full(m, 1 + 2 * r), np.full(m, -r), rhs)
exact = np.exp(-np.pi**2 * T) * np.sin(np.pi * x)
err = np.max(np.abs(u - exact))
print("max error: {:.3e}".format(err))
for xi, ui, ei in list(zip(x, u, exact))[::4]:
    print("%5.2f %10.6f %10.6f" % (xi, ui, ei))
A = np.diag(np.full(m, 1 + 2 * r)) + np.diag(np.full(m - 1, -r), 1) + np.diag(np.full(m - 1, -r), -1)
print("solver ok:", np.allclose(A @ thomas(np.full(m, -r), np.full(m, 1 + 2 * r), np.full(m, -r), rhs), rhs))
print("condition %.4f" % np.linalg.cond(A))
