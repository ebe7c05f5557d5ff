import numpy as np

roots = np.exp(2j * np.pi * np.arange(3) / 3)


def newton_basin(n, max_iter=25, tol=1e-6):
    re, im = np.meshgrid(np.linspace(-1.5, 1.5, n), np.linspace(-1.5, 1.5, n))
    z = re + 1j * im
    count = np.zeros(z.shape, int)
    with np.errstate(all="ignore"):
        for k in range(max_iter):
            step = (z**3 - 1) / (3 * z**2)
            z = z - step
            count[np.abs(step) > tol] += 1
    basin = np.abs(z[..., None] - roots).argmin(axis=-1)
    return basin, count


basin, count = newton_basin(13)
for row in basin[::2]:
    print("".join("abc"[v] for v in row))
print("share:", np.bincount(basin.ravel(), minlength=3) / basin.size)
print("mean iterations: %.2f" % count.mean())
