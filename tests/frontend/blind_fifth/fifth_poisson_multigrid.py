import numpy as np


def residual(u, f, h):
    r = np.zeros_like(u)
    r[1:-1, 1:-1] = f[1:-1, 1:-1] - (4 * u[1:-1, 1:-1] - u[:-2, 1:-1] - u[2:, 1:-1] - u[1:-1, :-2] - u[1:-1, 2:]) / h**2
    return r


def smooth(u, f, h, sweeps):
    ii, jj = np.mgrid[1:u.shape[0] - 1, 1:u.shape[1] - 1]
    red = (ii + jj) % 2 == 0
    for _ in range(sweeps):
        for colour in (red, ~red):
            new = 0.25 * (u[:-2, 1:-1] + u[2:, 1:-1] + u[1:-1, :-2] + u[1:-1, 2:] + h**2 * f[1:-1, 1:-1])
            u[1:-1, 1:-1] = np.where(colour, new, u[1:-1, 1:-1])
    return u


def restrict(r):
    c = r[::2, ::2].copy()
    c[1:-1, 1:-1] = (
        4 * r[2:-2:2, 2:-2:2]
        + 2 * (r[1:-3:2, 2:-2:2] + r[3:-1:2, 2:-2:2] + r[2:-2:2, 1:-3:2] + r[2:-2:2, 3:-1:2])
        + (r[1:-3:2, 1:-3:2] + r[3:-1:2, 1:-3:2] + r[1:-3:2, 3:-1:2] + r[3:-1:2, 3:-1:2])
    ) / 16
    return c


def prolong(c):
    n = 2 * (c.shape[0] - 1) + 1
    f = np.zeros((n, n))
    f[::2, ::2] = c
    f[1::2, ::2] = (c[:-1] + c[1:]) / 2
    f[:, 1::2] = (f[:, :-1:2] + f[:, 2::2]) / 2
    return f


def vcycle(u, f, h, level=0):
    if u.shape[0] <= 3:
        u[1, 1] = f[1, 1] * h * h / 4
        return u
    u = smooth(u, f, h, 2)
    e = vcycle(np.zeros([s // 2 + 1 for s in u.shape]), restrict(residual(u, f, h)), 2 * h, level + 1)
    u += prolong(e)
    return smooth(u, f, h, 2)


if __name__ == "__main__":
    n = 33
    h = 1 / (n - 1)
    x, y = np.meshgrid(np.linspace(0, 1, n), np.linspace(0, 1, n), indexing="ij")
    exact = np.sin(np.pi * x) * np.sin(2 * np.pi * y)
    f = 5 * np.pi**2 * exact
    u = np.zeros((n, n))
    r0 = np.linalg.norm(residual(u, f, h))
    it = 0
    while (r := np.linalg.norm(residual(u, f, h))) > 1e-6 * r0 and it < 30:
        u = vcycle(u, f, h)
        it += 1
        print(f"cycle {it:2d}: residual {r:.3e}")
    print("max error %.5f" % np.abs(u - exact).max())
