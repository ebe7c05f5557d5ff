import math

import numpy as np


def norm_cdf(x):
    return 0.5 * (1 + math.erf(x / math.sqrt(2)))


def black_scholes(S, K, T, r, sigma, kind="call"):
    d1 = (math.log(S / K) + (r + sigma ** 2 / 2) * T) / (sigma * math.sqrt(T))
    d2 = d1 - sigma * math.sqrt(T)
    if kind == "call":
        return S * norm_cdf(d1) - K * math.exp(-r * T) * norm_cdf(d2)
    elif kind == "put":
        return K * math.exp(-r * T) * norm_cdf(-d2) - S * norm_cdf(-d1)
    raise ValueError(f"unknown kind {kind!r}")


def monte_carlo(S, K, T, r, sigma, n, seed, kind="call"):
    g = np.random.default_rng(seed)
    z = g.standard_normal(n)
    ST = S * np.exp((r - 0.5 * sigma ** 2) * T + sigma * np.sqrt(T) * np.concatenate([z, -z]))
    payoff = np.maximum(ST - K, 0) if kind == "call" else np.maximum(K - ST, 0)
    disc = np.exp(-r * T) * payoff
    return disc.mean(), disc.std(ddof=1) / np.sqrt(len(disc))


for kind in ("call", "put"):
    print(kind.upper().center(40, "="))
    for K in (90, 100, 110):
        exact = black_scholes(100, K, 1.0, 0.03, 0.2, kind)
        est, se = monte_carlo(100, K, 1.0, 0.03, 0.2, 2000, 1, kind)
        flag = "ok" if abs(est - exact) < 3 * se else "!!"
        print(f"K={K:<4d} exact={exact:8.4f} mc={est:8.4f} +- {se:.4f} {flag}")
try:
    black_scholes(1, 1, 1, 0, 1, "straddle")
except ValueError as e:
    print("error:", e)
