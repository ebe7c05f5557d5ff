import numpy as np
from typing import Callable

RHS = Callable[[float, np.ndarray], np.ndarray]


def euler(f: RHS, t, y, h):
    return y + h * f(t, y)


def heun(f: RHS, t, y, h):
    k1 = f(t, y)
    k2 = f(t + h, y + h * k1)
    return y + h / 2 * (k1 + k2)


def rk4(f: RHS, t, y, h):
    k1 = f(t, y)
    k2 = f(t + h / 2, y + h / 2 * k1)
    k3 = f(t + h / 2, y + h / 2 * k2)
    k4 = f(t + h, y + h * k3)
    return y + h / 6 * (k1 + 2 * k2 + 2 * k3 + k4)


def integrate(method, f, y0, t_span, n):
    t0, t1 = t_span
    h = (t1 - t0) / n
    ts = np.linspace(t0, t1, n + 1)
    ys = np.zeros((n + 1, np.size(y0)))
    ys[0] = y0
    for i, t in enumerate(ts[:-1]):
        ys[i + 1] = method(f, t, ys[i], h)
    return ts, ys


def van_der_pol(mu):
    def f(t, y):
        x, v = y
        return np.array([v, mu * (1 - x**2) * v - x])
    return f


def decay(t, y):
    return -2 * y


for method in (euler, heun, rk4):
    errs = []
    for n in (10, 20, 40):
        _, ys = integrate(method, decay, [1.0], (0, 1), n)
        errs.append(abs(ys[-1, 0] - np.exp(-2)))
    orders = np.log2(np.array(errs[:-1]) / np.array(errs[1:]))
    print(f"{method.__name__:>6s}: " + "  ".join(f"{e:.2e}" for e in errs), "order", orders.round(2))
ts, ys = integrate(rk4, van_der_pol(1.0), np.array([2.0, 0.0]), (0, 8), 160)
crossings = ts[:-1][np.diff(np.sign(ys[:, 0])) != 0]
print("zero crossings near", crossings.round(2))
print("amplitude", np.abs(ys[:, 0]).max().round(4))
