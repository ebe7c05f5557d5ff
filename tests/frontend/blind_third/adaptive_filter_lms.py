import numpy as np

rng = np.random.default_rng(17)
n, taps = 400, 6
x = rng.standard_normal(n)
h = np.array([0.6, -0.3, 0.2, 0.1, -0.05, 0.02])
d = np.convolve(x, h)[:n] + 0.01 * rng.standard_normal(n)

w = np.zeros(taps)
mu = 0.05
errs = np.zeros(n)
for k in range(taps - 1, n):
    u = x[k - taps + 1:k + 1][::-1]
    e = d[k] - w @ u
    w += mu * e * u
    errs[k] = e
mse = [np.mean(errs[s:s + 80] ** 2) for s in range(0, n, 80)]
print("identified", np.round(w, 2))
print("MSE (dB):", " ".join(f"{10 * np.log10(m):.1f}" for m in mse))
print("misalignment %.4f" % (np.linalg.norm(w - h) / np.linalg.norm(h)))
