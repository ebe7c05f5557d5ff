# advect(u: float64[50])
import numpy as np


def advect(u, v=1.0, cfl=0.8, nt=30, scheme="upwind"):
    u = u.copy()
    for _ in range(nt):
        if scheme == "upwind":
            u = u - cfl * (u - np.roll(u, 1)) if v > 0 else u - cfl * (np.roll(u, -1) - u)
        elif scheme == "lax":
            u = 0.5 * (np.roll(u, 1) + np.roll(u, -1)) - 0.5 * cfl * (np.roll(u, -1) - np.roll(u, 1))
        else:
            raise ValueError(f"unknown scheme {scheme!r}")
    mass = u.sum()
    tv = np.abs(np.diff(np.append(u, u[0]))).sum()
    return u, mass, tv
