import numpy as np
from numpy.polynomial import Polynomial, chebyshev as C
from numpy import linalg as la, pi, sin, cos


def natural_spline(x, y):
    n = len(x) - 1
    h = np.diff(x)
    A = np.diag(np.r_[1, 2 * (h[:-1] + h[1:]), 1]) + np.diag(np.r_[h[:-1], 0], -1) + np.diag(np.r_[0, h[1:]], 1)
    rhs = np.zeros(n + 1)
    rhs[1:-1] = 3 * (np.diff(y[1:]) / h[1:] - np.diff(y[:-1]) / h[:-1])
    c = la.solve(A, rhs)
    b = np.diff(y) / h - h * (2 * c[:-1] + c[1:]) / 3
    d = np.diff(c) / (3 * h)

    def evaluate(t):
        i = np.clip(np.searchsorted(x, t, side="right") - 1, 0, n - 1)
        dx = t - x[i]
        return y[i] + dx * (b[i] + dx * (c[i] + dx * d[i]))

    return evaluate


x = np.linspace(0, 2 * pi, 9)
s = natural_spline(x, sin(x))
t = np.linspace(0, 2 * pi, 50)
print(f"spline error {np.abs(s(t) - sin(t)).max():.2e}", s(pi / 2).round(5), s(np.array([1.0, 2.0])).round(4))
p = Polynomial([1, -3, 2])
print(p(2), p.roots(), p.deriv()(0), (p * p).coef, p.degree())
fit = Polynomial.fit(x, sin(x), 5)
print(np.abs(fit(x) - sin(x)).max().round(4))
ch = C.chebfit(np.cos(pi * (np.arange(8) + 0.5) / 8), np.exp(np.cos(pi * (np.arange(8) + 0.5) / 8)), 4)
print(ch.round(5), C.chebval(0.3, ch).round(4))
c = np.polyfit(x, cos(x), deg=4)
print(c.round(4), np.polyval(c, 1.0).round(4), np.polyder([3, 2, 1]), np.polyint([2, 1]), np.polymul([1, 1], [1, -1]), np.convolve([1, 2], [1, 3]))
q, r = np.polydiv([1, 0, -1], [1, 1])
print(q, r, np.poly1d([1, 2])(3), np.roots([1, -3, 2]))
xg, wg = np.polynomial.legendre.leggauss(4)
print((wg @ np.exp(xg)).round(8), np.trapezoid(np.exp(t), t).round(4))


def simpson(f, a, b, n=10):
    x, h = np.linspace(a, b, n + 1, retstep=True)
    w = np.ones(n + 1); w[1:-1:2] = 4; w[2:-1:2] = 2
    return h / 3 * np.dot(w, f(x))


def adaptive(f, a, b, tol=1e-8, depth=0):
    m = (a + b) / 2
    whole, left, right = simpson(f, a, b, 2), simpson(f, a, m, 2), simpson(f, m, b, 2)
    if depth > 30 or abs(left + right - whole) < 15 * tol:
        return left + right + (left + right - whole) / 15
    return adaptive(f, a, m, tol / 2, depth + 1) + adaptive(f, m, b, tol / 2, depth + 1)


print(simpson(np.sin, 0, pi).round(6), round(adaptive(lambda v: 1 / (1 + 25 * v * v), -1, 1), 7))
rk = lambda f, y, t, h: (lambda k1: (lambda k2: (lambda k3: (lambda k4: y + h / 6 * (k1 + 2 * k2 + 2 * k3 + k4))(f(t + h, y + h * k3)))(f(t + h / 2, y + h / 2 * k2)))(f(t + h / 2, y + h / 2 * k1)))(f(t, y))
y = np.array([1.0, 0.0])
for i in range(100):
    y = rk(lambda t, y: np.array([y[1], -y[0]]), y, i * 0.1, 0.1)
print(y.round(5), cos(10).round(5))
