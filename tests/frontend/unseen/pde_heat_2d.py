import numpy as np
from numpy import pi, sin

nx = ny = 16
alpha = 0.1
dx = 1.0 / (nx - 1)
dt = 0.2 * dx**2 / alpha
x = np.linspace(0, 1, nx)
X, Y = np.meshgrid(x, x, indexing="ij")
u = sin(pi * X) * sin(pi * Y)
u[0, :] = u[-1, :] = u[:, 0] = u[:, -1] = 0
u0 = u.copy()

t = 0.0
step = 0
while t < 0.05:
    un = u.copy()
    u[1:-1, 1:-1] = un[1:-1, 1:-1] + alpha * dt / dx**2 * (
        un[2:, 1:-1] + un[:-2, 1:-1] + un[1:-1, 2:] + un[1:-1, :-2] - 4 * un[1:-1, 1:-1]
    )
    t += dt
    step += 1

exact = np.exp(-2 * pi**2 * alpha * t) * u0
print("steps: %d, t = %.4f" % (step, t))
print("max error: %.2e" % np.abs(u - exact).max())
print("total heat:", round(float(u.sum() * dx * dx), 6))
i, j = np.unravel_index(u.argmax(), u.shape)
print("hottest cell:", (int(i), int(j)), "value", u[i, j].round(5))
