# gray_scott(u: float32[16, 16], v: float32[16, 16])
import numpy as np


def laplacian(z, kernel=((0.05, 0.2, 0.05), (0.2, -1.0, 0.2), (0.05, 0.2, 0.05))):
    out = np.zeros_like(z)
    for (dy, dx), k in np.ndenumerate(np.array(kernel, dtype=z.dtype)):
        out += k * np.roll(np.roll(z, dy - 1, 0), dx - 1, 1)
    return out


def gray_scott(u, v, steps=25, F=0.04, k=0.06, Du=1.0, Dv=0.5):
    u = np.clip(np.abs(u), 0, 1)
    v = np.clip(np.abs(v), 0, 1) * np.float32(0.5)
    for n in range(steps):
        uvv = u * v * v
        u += np.float32(Du) * laplacian(u) - uvv + F * (1 - u)
        v += np.float32(Dv) * laplacian(v) + uvv - (F + k) * v
        if n % 10 == 0:
            u[:2] = 1
            v[:2, :] = 0
    hist, edges = np.histogram(v, bins=8, range=(0, 1))
    return u, v, hist, (v > v.mean()).sum()
