import numpy as np

n = 12
omega = 1.5
phi = np.zeros((n, n))
phi[0, :] = 100.0
phi[:, -1] = np.linspace(100, 0, n)
it = 0
err = 1.0
while err > 1e-3 and it < 200:
    err = 0.0
    for i in range(1, n - 1):
        for j in range(1, n - 1):
            new = 0.25 * (phi[i + 1, j] + phi[i - 1, j] + phi[i, j + 1] + phi[i, j - 1])
            diff = omega * (new - phi[i, j])
            phi[i, j] += diff
            err = max(err, abs(diff))
    it += 1
print(it, "iterations")
print(phi[::3, ::3].round(2))
