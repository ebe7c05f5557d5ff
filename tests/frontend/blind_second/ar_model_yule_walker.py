import numpy as np


def simulate(coef, n, sigma=1.0, seed=0):
    rng = np.random.default_rng(seed)
    p = len(coef)
    x = np.zeros(n + p)
    eps = rng.normal(scale=sigma, size=n + p)
    for t in range(p, n + p):
        x[t] = coef @ x[t - p:t][::-1] + eps[t]
    return x[p:]


def autocov(x, maxlag):
    x = x - x.mean()
    return np.array([x[: len(x) - k] @ x[k:] / len(x) for k in range(maxlag + 1)])


def yule_walker(x, order):
    r = autocov(x, order)
    i = np.arange(order)
    R = r[np.abs(i[:, None] - i)]
    phi = np.linalg.solve(R, r[1:])
    return phi, r[0] - phi @ r[1:]


def levinson(r, order):
    a, e = np.zeros(0), r[0]
    for k in range(1, order + 1):
        ref = (r[k] - a @ r[1:k][::-1]) / e
        a = np.append(a - ref * a[::-1], ref)
        e *= 1 - ref**2
    return a, e


true = np.array([0.75, -0.5])
x = simulate(true, 400, seed=3)
best = None
for order in range(1, 5):
    phi, s2 = yule_walker(x, order)
    aic = len(x) * np.log(s2) + 2 * order
    if best is None or aic < best[0]:
        best = (aic, order, phi)
    print(f"order {order}: sigma2={s2:.4f} aic={aic:9.3f} phi={np.array2string(phi, precision=3, floatmode='fixed')}")
lev, err = levinson(autocov(x, 3), 3)
print("levinson agrees:", np.allclose(lev, yule_walker(x, 3)[0]))
freq = np.linspace(0, np.pi, 5)
psd = 1 / np.abs(1 - sum(p * np.exp(-1j * freq * (k + 1)) for k, p in enumerate(best[2]))) ** 2
print("chosen", best[1], "psd", psd.round(3))
