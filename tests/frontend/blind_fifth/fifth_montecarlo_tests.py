#! F206: the class of a generator's bit_generator, spawn, permuted
import numpy as np
from math import erf, sqrt, comb, factorial, isclose, pi, tau

rng = np.random.default_rng(seed=20240229)

# Buffon
n = 4000
x, th = rng.uniform(0, 0.5, n), rng.uniform(0, pi / 2, n)
print("buffon", round(2 / ((x <= 0.5 * np.sin(th)).mean()), 3))

# importance sampling of a Gaussian tail
z = rng.exponential(1.0, n) + 4
w = np.exp(-0.5 * z**2) / np.sqrt(tau) / np.exp(-(z - 4))
print(f"P(Z>4) = {w.mean():.3e} +- {w.std(ddof=1) / np.sqrt(n):.1e}, exact {0.5 * (1 - erf(4 / sqrt(2))):.3e}")

# bootstrap
data = rng.gamma(2.0, 3.0, size=40)
idx = rng.integers(0, data.size, size=(500, data.size))
boot = np.median(data[idx], axis=1)
lo, hi = np.quantile(boot, [0.025, 0.975])
print(f"median {np.median(data):.3f} [{lo:.3f}, {hi:.3f}]")

# permutation test
a, b = data[:20], data[20:] + 1.5
pool = np.concatenate([a, b])
obs = b.mean() - a.mean()
diffs = []
for _ in range(200):
    p = rng.permutation(pool)
    diffs.append(p[20:].mean() - p[:20].mean())
print("p =", (np.sum(np.abs(diffs) >= abs(obs)) + 1) / 201)

# chi-square of dice
rolls = rng.integers(1, 7, size=(100, 2)).sum(axis=1)
obs, _ = np.histogram(rolls, bins=np.arange(1.5, 13.5))
exp = np.array([1, 2, 3, 4, 5, 6, 5, 4, 3, 2, 1]) / 36 * 100
print("chi2", ((obs - exp) ** 2 / exp).sum().round(4), obs)

# random walk first passage: a while loop on values
def first_passage(level, rng, limit=10_000):
    pos, t = 0, 0
    while pos < level and t < limit:
        pos += 1 if rng.random() < 0.6 else -1
        t += 1
    return t

times = [first_passage(5, rng) for _ in range(30)]
print("mean first passage", np.mean(times), max(times))

# coupon collector
def coupons(k, rng):
    seen = set()
    draws = 0
    while len(seen) < k:
        seen.add(int(rng.integers(k)))
        draws += 1
    return draws

print([coupons(6, rng) for _ in range(8)], sum(6 / i for i in range(1, 7)))
# several distributions
print(rng.poisson(4, 5), rng.binomial(10, 0.3, 5), rng.geometric(0.2, 3), rng.beta(2, 3, 2).round(4), rng.dirichlet([1, 1, 1]).round(3))
print(rng.choice(["red", "green", "blue"], 5, p=[0.5, 0.3, 0.2]), rng.multivariate_normal([0, 1], np.eye(2), 2).round(3))
deck = np.arange(10); rng.shuffle(deck); print(deck, rng.permutation(5), rng.bit_generator.__class__.__name__)
children = np.random.default_rng(5).spawn(2)
print([c.integers(100) for c in children])
print(np.random.Generator(np.random.PCG64(3)).random(2), np.random.Generator(np.random.MT19937(3)).standard_normal())
print(rng.permuted(np.arange(6).reshape(2, 3), axis=1), rng.lognormal(0, 1, 2).round(4), rng.weibull(1.5), rng.vonmises(0, 4, 2).round(4))
