# simulate(u0: float64[64])
import numpy as np


def simulate(u0, c=1.0, dx=0.1, dt=0.05, steps=80):
    r2 = (c * dt / dx) ** 2
    u_prev = u0.copy()
    u_prev[0] = u_prev[-1] = 0
    u = u_prev.copy()
    u[1:-1] = u_prev[1:-1] + 0.5 * r2 * (u_prev[2:] - 2 * u_prev[1:-1] + u_prev[:-2])
    for n in range(steps):
        u_next = np.zeros_like(u)
        u_next[1:-1] = 2 * u[1:-1] - u_prev[1:-1] + r2 * (u[2:] - 2 * u[1:-1] + u[:-2])
        u_prev, u = u, u_next
    energy = 0.5 * np.sum(((u - u_prev) / dt) ** 2) * dx
    return u, energy
