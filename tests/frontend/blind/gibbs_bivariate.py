import numpy as np


def gibbs(n, rho, burn=100, seed=None):
    """Sample a bivariate normal with Gibbs steps."""
    rng = np.random.default_rng(seed)
    x = y = 0.0
    s = np.sqrt(1 - rho**2)
    out = np.empty((n, 2))
    for i in range(-burn, n):
        x = rng.normal(rho * y, s)
        y = rng.normal(rho * x, s)
        if i >= 0:
            out[i] = x, y
    return out


def autocorr(x, lag):
    x = x - x.mean()
    return (x[:-lag] * x[lag:]).sum() / (x * x).sum()


samples = gibbs(400, 0.7, seed=11)
print("mean", samples.mean(0).round(4))
print("cov\n", np.cov(samples, rowvar=False).round(4))
print("corr", np.corrcoef(samples.T)[0, 1].round(4))
for lag in (1, 2, 5, 10):
    print(f"lag {lag:2d}: {autocorr(samples[:, 0], lag):+.4f}")
q = np.quantile(samples[:, 0], [0.025, 0.5, 0.975])
print("interval [{:.3f}, {:.3f}] median {:.3f}".format(q[0], q[2], q[1]))
