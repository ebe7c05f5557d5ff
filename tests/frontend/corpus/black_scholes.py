# price(spot: float64[50] positive, strike: float64[50] positive)
import math
import numpy as np


def norm_cdf(x):
    # Abramowitz & Stegun 7.1.26
    a1, a2, a3, a4, a5 = 0.254829592, -0.284496736, 1.421413741, -1.453152027, 1.061405429
    sign = np.sign(x)
    z = np.abs(x) / math.sqrt(2)
    t = 1.0 / (1.0 + 0.3275911 * z)
    y = 1 - (((((a5 * t + a4) * t) + a3) * t + a2) * t + a1) * t * np.exp(-z * z)
    return 0.5 * (1 + sign * y)


def price(spot, strike, rate: float = 0.03, vol: float = 0.2, T: float = 1.0):
    d1 = (np.log(spot / strike) + (rate + 0.5 * vol**2) * T) / (vol * np.sqrt(T))
    d2 = d1 - vol * np.sqrt(T)
    call = spot * norm_cdf(d1) - strike * np.exp(-rate * T) * norm_cdf(d2)
    put = call - spot + strike * np.exp(-rate * T)
    greeks = {"delta": norm_cdf(d1), "vega": spot * np.exp(-(d1**2) / 2) / np.sqrt(2 * np.pi) * np.sqrt(T)}
    return {"call": call, "put": put, **greeks}
