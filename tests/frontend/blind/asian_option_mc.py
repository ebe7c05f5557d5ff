import argparse
import math
from functools import partial

import numpy as np


def norm_cdf(x):
    return 0.5 * (1 + math.erf(x / math.sqrt(2)))


def bs_call(s, k, r, sigma, t):
    d1 = (math.log(s / k) + (r + sigma**2 / 2) * t) / (sigma * math.sqrt(t))
    return s * norm_cdf(d1) - k * math.exp(-r * t) * norm_cdf(d1 - sigma * math.sqrt(t))


def simulate(s0, r, sigma, t, steps, paths, rng, antithetic=True):
    z = rng.standard_normal((paths // 2 if antithetic else paths, steps))
    if antithetic:
        z = np.concatenate([z, -z])
    dt = t / steps
    logs = np.cumsum((r - sigma**2 / 2) * dt + sigma * np.sqrt(dt) * z, axis=1)
    return s0 * np.exp(np.hstack([np.zeros((len(z), 1)), logs]))


PAYOFFS = {
    "european": lambda p, k: np.maximum(p[:, -1] - k, 0),
    "asian": lambda p, k: np.maximum(p[:, 1:].mean(axis=1) - k, 0),
    "lookback": lambda p, k: p[:, -1] - p.min(axis=1),
    "barrier": lambda p, k: np.where((p < 120).all(axis=1), np.maximum(p[:, -1] - k, 0), 0.0),
}


def main(argv=None):
    ap = argparse.ArgumentParser(description="price exotic options")
    ap.add_argument("--paths", type=int, default=2000)
    ap.add_argument("--steps", type=int, default=20)
    ap.add_argument("--seed", type=int, default=123)
    args = ap.parse_args(argv)
    market = dict(s0=100.0, r=0.03, sigma=0.2, t=1.0)
    run = partial(simulate, steps=args.steps, paths=args.paths, rng=np.random.default_rng(args.seed))
    paths = run(**market)
    disc = math.exp(-market["r"] * market["t"])
    print(f"{'payoff':<12}{'price':>10}{'stderr':>10}")
    for name, f in PAYOFFS.items():
        v = disc * f(paths, 100)
        print(f"{name:<12}{v.mean():>10.4f}{v.std(ddof=1) / np.sqrt(len(v)):>10.4f}")
    print(f"{'bs':<12}{bs_call(100, 100, 0.03, 0.2, 1):>10.4f}")
    return 0


if __name__ == "__main__":
    main()
