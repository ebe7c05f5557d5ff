import numpy as np


def newton(f, df, x, tol=1e-12, limit=50):
    n = 0
    while abs(step := f(x) / df(x)) > tol and (n := n + 1) < limit:
        x -= step
    return x, n


def bisect(f, a, b, tol=1e-10):
    fa, fb = f(a), f(b)
    if fa * fb > 0:
        return None
    while b - a > tol:
        if (fm := f(m := (a + b) / 2)) == 0:
            return m
        if fa * fm < 0:
            b, fb = m, fm
        else:
            a, fa = m, fm
    return (a + b) / 2


p = np.poly1d([1, -6, 11, -6])
print(p.order, p(2.5), np.roots(p.coeffs).round(6))
f = lambda x: np.cos(x) - x
root, n = newton(f, lambda x: -np.sin(x) - 1, 1.0)
print(f"cos x = x at {root:.12f} after {n} steps")
print("bisect", round(bisect(f, 0, 1), 8), bisect(f, 2, 3))
grid = np.linspace(-10, 10, 41)
s = np.sin(grid)
brackets = [(a, b) for a, b, sa, sb in zip(grid, grid[1:], s, s[1:]) if sa * sb < 0]
roots = [r for a, b in brackets if (r := bisect(np.sin, a, b)) is not None]
print(np.round(np.array(roots) / np.pi, 6))
data = [3, 8, -2, 15, 7]
print([y for x in data if (y := x * 2) > 5], any((hit := x) > 10 for x in data), hit)
