import numpy as np
from functools import reduce

kernels = dict(
    gaussian=lambda r, e: np.exp(-((e * r) ** 2)),
    multiquadric=lambda r, e: np.sqrt(1 + (e * r) ** 2),
    inverse=lambda r, e: 1 / (1 + (e * r) ** 2),
    thin_plate=lambda r, e: np.where(r == 0, 0.0, r**2 * np.log(np.where(r == 0, 1, r))),
)


def franke(x, y):
    terms = [
        0.75 * np.exp(-((9 * x - 2) ** 2 + (9 * y - 2) ** 2) / 4),
        0.75 * np.exp(-((9 * x + 1) ** 2) / 49 - (9 * y + 1) / 10),
        0.5 * np.exp(-((9 * x - 7) ** 2 + (9 * y - 3) ** 2) / 4),
        -0.2 * np.exp(-((9 * x - 4) ** 2) - (9 * y - 7) ** 2),
    ]
    return reduce(np.add, terms)


def halton(n, base):
    seq = np.zeros(n)
    for i in range(n):
        f, k = 1.0, i + 1
        while k > 0:
            f /= base
            seq[i] += f * (k % base)
            k //= base
    return seq


centres = np.stack([halton(40, 2), halton(40, 3)], axis=1)
values = franke(*centres.T)
gx, gy = np.mgrid[0:1:8j, 0:1:8j]
targets = np.column_stack((gx.ravel(), gy.ravel()))
dist = lambda A, B: np.linalg.norm(A[:, None, :] - B[None, :, :], axis=2)
true = franke(gx, gy)
for name, k in kernels.items():
    Phi = k(dist(centres, centres), 3.0)
    w = np.linalg.solve(Phi, values)
    approx = (k(dist(targets, centres), 3.0) @ w).reshape(gx.shape)
    err = np.abs(approx - true)
    print(f"{name:<14}max {err.max():.4f}  rms {np.sqrt((err**2).mean()):.4f}")
print("peak", true.max().round(4), "at", [round(float(g.flat[true.argmax()]), 3) for g in (gx, gy)])
