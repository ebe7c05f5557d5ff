import numpy as np


def rosen(x):
    return np.sum(100 * (x[1:] - x[:-1] ** 2) ** 2 + (1 - x[:-1]) ** 2)


def grad(f, x, h=1e-6):
    g = np.zeros_like(x)
    for i in range(x.size):
        e = np.zeros_like(x)
        e[i] = h
        g[i] = (f(x + e) - f(x - e)) / (2 * h)
    return g


def line_search(f, x, p, g, c=1e-4, rho=0.5):
    a, fx = 1.0, f(x)
    while f(x + a * p) > fx + c * a * (g @ p):
        a *= rho
        if a < 1e-10:
            break
    return a


def bfgs(f, x0, tol=1e-5, max_iter=60):
    x, n = x0.copy(), len(x0)
    Hk, g = np.eye(n), grad(f, x0)
    for k in range(max_iter):
        if np.linalg.norm(g) < tol:
            return x, k
        p = -Hk @ g
        s = line_search(f, x, p, g) * p
        x = x + s
        g_new = grad(f, x)
        y = g_new - g
        if (ys := y @ s) > 1e-12:
            rho = 1 / ys
            I = np.eye(n)
            Hk = (I - rho * np.outer(s, y)) @ Hk @ (I - rho * np.outer(y, s)) + rho * np.outer(s, s)
        g = g_new
    return x, max_iter


x, it = bfgs(rosen, np.array([-1.2, 1.0]))
print("minimum at", x.round(4), "after", it, "iterations")
print("f = %.2e" % rosen(x))
x3, it3 = bfgs(rosen, np.zeros(3), max_iter=80)
print(np.round(x3, 3), it3)
