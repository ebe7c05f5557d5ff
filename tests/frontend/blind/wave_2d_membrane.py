import numpy as np

c, dx, dt = 1.0, 0.1, 0.05
n = 21
x = np.arange(n) * dx
X, Y = np.meshgrid(x, x, indexing="ij")
u = np.exp(-((X - 1) ** 2 + (Y - 1) ** 2) / 0.05)
u[0, :] = u[-1, :] = u[:, 0] = u[:, -1] = 0
prev = u.copy()
r2 = (c * dt / dx) ** 2
assert r2 <= 0.5, "unstable"

energies = []
for step in range(80):
    lap = np.zeros_like(u)
    lap[1:-1, 1:-1] = u[2:, 1:-1] + u[:-2, 1:-1] + u[1:-1, 2:] + u[1:-1, :-2] - 4 * u[1:-1, 1:-1]
    nxt = 2 * u - prev + r2 * lap
    nxt[[0, -1], :] = 0
    nxt[:, [0, -1]] = 0
    prev, u = u, nxt
    if step % 20 == 0:
        v = (u - prev) / dt
        energies.append(0.5 * (v**2).sum() + 0.5 * ((np.diff(u, axis=0) / dx) ** 2).sum() + 0.5 * ((np.diff(u, axis=1) / dx) ** 2).sum())
print("energies", np.array(energies).round(3))
print("symmetry", np.abs(u - u.T).max() < 1e-12, np.allclose(u, u[::-1]))
with np.printoptions(precision=3, suppress=True):
    print(u[n // 2, ::2])
