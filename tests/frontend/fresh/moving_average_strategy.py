"""Backtest of a moving-average crossover."""
import numpy as np


def sma(x, n):
    return np.convolve(x, np.ones(n) / n, mode="valid")


def ema(x, alpha):
    out = np.empty_like(x)
    out[0] = x[0]
    for i in range(1, len(x)):
        out[i] = alpha * x[i] + (1 - alpha) * out[i - 1]
    return out


def backtest(prices, fast=5, slow=20):
    f = sma(prices, fast)[slow - fast:]
    s = sma(prices, slow)
    signal = np.where(f > s, 1, 0)
    trades = np.diff(signal)
    rets = np.diff(prices[slow - 1:]) / prices[slow - 1:-1]
    strat = signal[:-1] * rets
    return {
        "buys": int((trades == 1).sum()),
        "sells": int((trades == -1).sum()),
        "total_return": float(np.prod(1 + strat) - 1),
        "buy_hold": float(prices[-1] / prices[slow - 1] - 1),
    }


np.random.seed(123)
prices = 50 + np.cumsum(np.random.normal(0, 1, 200))
result = backtest(prices)
for key, value in result.items():
    if isinstance(value, float):
        print(f"{key:15s} {value:+.4f}")
    else:
        print(f"{key:15s} {value}")
e = ema(prices, 0.1)
print("last ema:", e[-1])
best = max((backtest(prices, f, s)["total_return"], f, s) for f in (3, 5, 8) for s in (15, 20, 30))
print("best parameters:", best[1:], "return", round(best[0], 4))
