import numpy as np

m, k, c = 1.0, 4.0, 0.1


def f(t, y):
    x, v = y
    return np.array([v, -(k * x + c * v) / m])


def euler(f, t, y, h):
    return y + h * f(t, y)


def rk4(f, t, y, h):
    k1 = f(t, y)
    k2 = f(t + h / 2, y + h / 2 * k1)
    k3 = f(t + h / 2, y + h / 2 * k2)
    k4 = f(t + h, y + h * k3)
    return y + h / 6 * (k1 + 2 * k2 + 2 * k3 + k4)


def integrate(method, y0, t_end, h):
    n = int(round(t_end / h))
    ts = np.linspace(0, t_end, n + 1)
    ys = np.zeros((n + 1, len(y0)))
    ys[0] = y0
    for i in range(n):
        ys[i + 1] = method(f, ts[i], ys[i], h)
    return ts, ys


def exact(t):
    w = np.sqrt(k / m - (c / 2 / m) ** 2)
    return np.exp(-c / (2 * m) * t) * (np.cos(w * t) + c / (2 * m * w) * np.sin(w * t))


for method in [euler, rk4]:
    errors = []
    for h in [0.1, 0.05, 0.025]:
        ts, ys = integrate(method, [1.0, 0.0], 2.0, h)
        errors.append(np.max(np.abs(ys[:, 0] - exact(ts))))
    orders = np.log2(np.array(errors[:-1]) / np.array(errors[1:]))
    print(method.__name__, ["%.2e" % e for e in errors], "order:", orders.round(2))
energy = 0.5 * m * ys[:, 1] ** 2 + 0.5 * k * ys[:, 0] ** 2
print("energy lost: {:.1%}".format(1 - energy[-1] / energy[0]))
