#!/usr/bin/env python3
"""Monte Carlo option pricing against Black-Scholes."""
import argparse
import logging
import math
from typing import NamedTuple

import numpy as np

logger = logging.getLogger(__name__)


class Option(NamedTuple):
    spot: float
    strike: float
    rate: float
    vol: float
    maturity: float
    kind: str = "call"


def norm_cdf(x: float) -> float:
    return 0.5 * (1.0 + math.erf(x / math.sqrt(2.0)))


def black_scholes(opt: Option) -> float:
    s, k, r, sigma, t, kind = opt
    d1 = (math.log(s / k) + (r + sigma**2 / 2) * t) / (sigma * math.sqrt(t))
    d2 = d1 - sigma * math.sqrt(t)
    if kind == "call":
        return s * norm_cdf(d1) - k * math.exp(-r * t) * norm_cdf(d2)
    elif kind == "put":
        return k * math.exp(-r * t) * norm_cdf(-d2) - s * norm_cdf(-d1)
    raise ValueError(f"unknown kind {kind!r}")


def monte_carlo(opt: Option, n_paths: int, n_steps: int, seed: int | None = None):
    rng = np.random.default_rng(seed)
    dt = opt.maturity / n_steps
    z = rng.standard_normal((n_paths, n_steps))
    z = np.concatenate([z, -z])  # antithetic
    log_ret = (opt.rate - 0.5 * opt.vol**2) * dt + opt.vol * np.sqrt(dt) * z
    paths = opt.spot * np.exp(np.cumsum(log_ret, axis=1))
    terminal = paths[:, -1]
    sign = {"call": 1, "put": -1}[opt.kind]
    payoff = np.maximum(sign * (terminal - opt.strike), 0)
    asian = np.maximum(sign * (paths.mean(axis=1) - opt.strike), 0)
    disc = np.exp(-opt.rate * opt.maturity)
    stderr = payoff.std(ddof=1) / np.sqrt(len(payoff))
    return disc * payoff.mean(), disc * stderr, disc * asian.mean()


def main(argv=None):
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--paths", type=int, default=2000)
    parser.add_argument("--steps", type=int, default=12)
    parser.add_argument("--seed", type=int, default=7)
    parser.add_argument("--strikes", type=float, nargs="+", default=[90.0, 100.0, 110.0])
    parser.add_argument("-v", "--verbose", action="store_true")
    args = parser.parse_args(argv)
    logging.basicConfig(level=logging.DEBUG if args.verbose else logging.WARNING)
    base = Option(100.0, 100.0, 0.03, 0.2, 1.0)
    for strike in args.strikes:
        for kind in ("call", "put"):
            opt = base._replace(strike=strike, kind=kind)
            ref = black_scholes(opt)
            price, err, asian = monte_carlo(opt, args.paths, args.steps, args.seed)
            logger.debug("done %s", opt)
            ok = abs(price - ref) < 4 * err
            print(f"{kind:>4} K={strike:6.1f} bs={ref:8.4f} mc={price:8.4f} +- {err:.4f} asian={asian:.4f} {'ok' if ok else 'BAD'}")
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
