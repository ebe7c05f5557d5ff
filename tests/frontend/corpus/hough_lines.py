import numpy as np

img = np.zeros((16, 16), dtype=bool)
for i in range(3, 13):
    img[i, i] = True
img[8, :] = True
ys, xs = np.nonzero(img)
thetas = np.deg2rad(np.arange(-90, 90, 15))
diag = int(np.ceil(np.sqrt(2) * 16))
acc = np.zeros((2 * diag + 1, len(thetas)), dtype=int)
for x, y in zip(xs, ys):
    rho = np.round(x * np.cos(thetas) + y * np.sin(thetas)).astype(int) + diag
    acc[rho, np.arange(len(thetas))] += 1
flat = np.argsort(acc, axis=None, kind="stable")[::-1][:3]
for r, t in zip(*np.unravel_index(flat, acc.shape)):
    print(f"rho={r - diag:3d} theta={np.rad2deg(thetas[t]):6.1f} votes={acc[r, t]}")
