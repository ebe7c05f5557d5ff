import numpy as np

W, H, MAXIT = 40, 16, 30
x = np.linspace(-2.2, 0.8, W)
y = np.linspace(-1.2, 1.2, H)
C = x[None, :] + 1j * y[:, None]
Z = np.zeros_like(C)
N = np.zeros(C.shape, dtype=int)
alive = np.ones(C.shape, dtype=bool)
with np.errstate(over="ignore", invalid="ignore"):
    for i in range(MAXIT):
        Z[alive] = Z[alive] ** 2 + C[alive]
        esc = alive & (np.abs(Z) > 2)
        N[esc] = i
        alive &= ~esc
palette = " .:-=+*#%@"
for row in N:
    print("".join(palette[min(v * len(palette) // MAXIT, 9)] for v in row))


def newton(z, it=20):
    for _ in range(it):
        z = z - (z**3 - 1) / (3 * z**2)
    return z


roots = np.exp(2j * np.pi * np.arange(3) / 3)
g = (np.linspace(-1, 1, 6) + 0.05)[None] + 1j * (np.linspace(-1, 1, 5) + 0.03)[:, None]
basin = np.abs(newton(g)[..., None] - roots).argmin(-1)
print(basin)
print(np.round(roots, 3), roots.conj().imag.round(3), complex(1, 2) * 1j, abs(3 + 4j))
