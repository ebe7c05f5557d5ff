import math
from typing import NamedTuple

import numpy as np


class Option(NamedTuple):
    spot: float
    strike: float
    rate: float
    vol: float
    maturity: float


def norm_cdf(x: float) -> float:
    return 0.5 * (1.0 + math.erf(x / math.sqrt(2.0)))


def bs_call(o: Option) -> float:
    d1 = (math.log(o.spot / o.strike) + (o.rate + 0.5 * o.vol**2) * o.maturity) / (o.vol * math.sqrt(o.maturity))
    d2 = d1 - o.vol * math.sqrt(o.maturity)
    return o.spot * norm_cdf(d1) - o.strike * math.exp(-o.rate * o.maturity) * norm_cdf(d2)


def mc_call(o: Option, n_paths: int, seed: int = 0) -> tuple[float, float]:
    rng = np.random.default_rng(seed)
    z = rng.standard_normal(n_paths // 2)
    z = np.concatenate([z, -z])
    st = o.spot * np.exp((o.rate - 0.5 * o.vol**2) * o.maturity + o.vol * np.sqrt(o.maturity) * z)
    payoff = np.maximum(st - o.strike, 0.0)
    disc = np.exp(-o.rate * o.maturity) * payoff
    return disc.mean(), disc.std(ddof=1) / np.sqrt(n_paths)


def main():
    base = Option(spot=100, strike=105, rate=0.03, vol=0.2, maturity=1.0)
    exact = bs_call(base)
    price, se = mc_call(base, 4000)
    print(f"analytic {exact:.4f}")
    print(f"monte carlo {price:.4f} +/- {1.96 * se:.4f}")
    for k in (90, 100, 110):
        o = base._replace(strike=k)
        print(f"K={k:<5d} {bs_call(o):8.4f}")
    assert abs(price - exact) < 3 * se


if __name__ == "__main__":
    main()
