import numpy as np


def burgers(u, dx, dt, nu, n_steps):
    history = [u.copy()]
    for n in range(n_steps):
        un = u.copy()
        for i in range(1, len(u) - 1):
            u[i] = un[i] - un[i] * dt / dx * (un[i] - un[i - 1]) + nu * dt / dx**2 * (un[i + 1] - 2 * un[i] + un[i - 1])
        u[0] = un[0] - un[0] * dt / dx * (un[0] - un[-2]) + nu * dt / dx**2 * (un[1] - 2 * un[0] + un[-2])
        u[-1] = u[0]
        if n % 10 == 9:
            history.append(u.copy())
    return np.array(history)


nx = 31
x = np.linspace(0, 2 * np.pi, nx)
u = np.sin(x) + 0.5
h = burgers(u, x[1] - x[0], 0.02, 0.07, 40)
print(h.shape)
for row in h:
    print(" ".join(f"{v:6.3f}" for v in row[::6]))
print("total variation:", np.abs(np.diff(h, axis=1)).sum(axis=1).round(4))
