import numpy as np


def laplacian(u):
    v = 4 * u
    v[1:] -= u[:-1]
    v[:-1] -= u[1:]
    v[:, 1:] -= u[:, :-1]
    v[:, :-1] -= u[:, 1:]
    return v


def cg(apply, b, tol=1e-8, maxiter=500):
    x = np.zeros_like(b)
    r = b - apply(x)
    p = r.copy()
    rs = np.sum(r * r)
    for k in range(maxiter):
        Ap = apply(p)
        alpha = rs / np.sum(p * Ap)
        x = x + alpha * p
        r = r - alpha * Ap
        new = np.sum(r * r)
        if np.sqrt(new) < tol:
            return x, k + 1
        p = r + new / rs * p
        rs = new
    raise RuntimeError("no convergence")


n = 16
xx = np.linspace(0, 1, n + 2)[1:-1]
f = np.outer(np.sin(np.pi * xx), np.sin(2 * np.pi * xx)) / (n + 1) ** 2
f[3, 4] += 0.01
u, its = cg(laplacian, f)
print("iterations", its)
print("residual below 1e-7:", bool(np.abs(laplacian(u) - f).max() < 1e-7))
print("u max %.6f at %s" % (u.max(), np.unravel_index(u.argmax(), u.shape)))
