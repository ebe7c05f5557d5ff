import numpy as np

def newton(z, max_iter=12):
    roots = np.array([1, -0.5 + 0.8660254j, -0.5 - 0.8660254j])
    out = np.full(z.shape, -1)
    for i in range(max_iter):
        dz = 3 * z**2
        z = np.where(np.abs(dz) > 1e-12, z - (z**3 - 1) / np.where(dz == 0, 1, dz), z)
    for k, r in enumerate(roots):
        out[np.abs(z - r) < 1e-3] = k
    return out

xs = np.linspace(-1.5, 1.5, 11)
grid = xs[None, :] + 1j * xs[:, None]
res = newton(grid)
for row in res:
    print("".join("abc."[v] for v in row))
print(np.bincount(res[res >= 0], minlength=3))
