"""Explicit finite differences for the 2D heat equation."""
import numpy as np

nx = ny = 20
alpha = 0.1
dx = 1.0 / (nx - 1)
dt = 0.2 * dx**2 / alpha
nsteps = 100

u = np.zeros((nx, ny))
u[0, :] = 100.0
u[:, 0] = 50.0

for n in range(nsteps):
    un = u.copy()
    u[1:-1, 1:-1] = un[1:-1, 1:-1] + alpha * dt / dx**2 * (
        un[2:, 1:-1] + un[:-2, 1:-1] + un[1:-1, 2:] + un[1:-1, :-2] - 4 * un[1:-1, 1:-1]
    )
    if n % 25 == 0:
        delta = np.abs(u - un).max()
        print(f"step {n:4d}  max change {delta:.6f}")

print("center temperature:", u[nx // 2, ny // 2])
np.set_printoptions(precision=2, suppress=True)
print(u[:5, :5])
