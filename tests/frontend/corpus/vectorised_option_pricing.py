import math
import numpy as np

def norm_cdf(x):
    return 0.5 * (1 + math.erf(x / math.sqrt(2)))

def bs_call(s, k, r, sigma, t):
    d1 = (np.log(s / k) + (r + sigma**2 / 2) * t) / (sigma * np.sqrt(t))
    d2 = d1 - sigma * np.sqrt(t)
    return s * norm_cdf(d1) - k * np.exp(-r * t) * norm_cdf(d2)

def mc_call(s, k, r, sigma, t, n=20000, seed=1):
    rng = np.random.default_rng(seed)
    z = rng.standard_normal(n)
    st = s * np.exp((r - 0.5 * sigma**2) * t + sigma * math.sqrt(t) * z)
    pay = np.maximum(st - k, 0)
    est = np.exp(-r * t) * pay
    return est.mean(), est.std(ddof=1) / np.sqrt(n)

exact = bs_call(100, 105, 0.03, 0.2, 1.0)
m, se = mc_call(100, 105, 0.03, 0.2, 1.0)
print(f"exact {exact:.4f}  mc {m:.4f} +- {1.96*se:.4f}")
assert abs(exact - m) < 4 * se
strikes = np.arange(80, 121, 10)
print(np.vectorize(bs_call)(100.0, strikes, 0.03, 0.2, 1.0).round(3))
