import numpy as np

NX, NY, STEPS, TAU = 16, 10, 12, 0.6
C = np.array([(0, 0), (1, 0), (0, 1), (-1, 0), (0, -1), (1, 1), (-1, 1), (-1, -1), (1, -1)])
Wt = np.array([4 / 9] + [1 / 9] * 4 + [1 / 36] * 4)
OPP = [next(j for j, d in enumerate(C.tolist()) if d == [-c[0], -c[1]]) for c in C.tolist()]
X, Y = np.meshgrid(range(NX), range(NY), indexing="ij")
solid = (X - 4) ** 2 + (Y - 5) ** 2 < 2.1**2


def feq(rho, u):
    cu = np.einsum("qd,dxy->qxy", C, u)
    usq = (u**2).sum(0)
    return rho * Wt[:, None, None] * (1 + 3 * cu + 4.5 * cu**2 - 1.5 * usq)


u0 = np.zeros((2, NX, NY))
u0[0] = 0.05 * (1 + 1e-3 * np.sin(2 * np.pi * Y / NY))
f = feq(np.ones((NX, NY)), u0)
for t in range(STEPS):
    rho = f.sum(axis=0)
    u = np.tensordot(C.T, f, axes=1) / rho
    f += (feq(rho, u) - f) / TAU
    bounced = f[OPP][:, solid]
    for q, (cx, cy) in enumerate(C):
        f[q] = np.roll(np.roll(f[q], cx, axis=0), cy, axis=1)
    f[:, solid] = bounced
    f[:, 0, :] = feq(np.ones((1, NY)), u0[:, :1])[:, 0]
    if not np.isfinite(f).all():
        raise FloatingPointError(t)
u[:, solid] = np.nan
speed = np.sqrt((u**2).sum(0))
vort = np.gradient(u[1], axis=0) - np.gradient(u[0], axis=1)
print(f"mass {f.sum():.6f} max {np.nanmax(speed):.6f} mean {np.nanmean(speed):.6f}")
print(np.nanstd(vort).round(6), OPP, int(solid.sum()))
print(np.array2string(speed[::5, ::3], precision=4))
