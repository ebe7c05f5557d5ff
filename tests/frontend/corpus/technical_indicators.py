# indicators(close: float64[60] positive)
import numpy as np


def ema(x, span):
    alpha = 2 / (span + 1)
    out = np.empty_like(x)
    out[0] = x[0]
    for i in range(1, len(x)):
        out[i] = alpha * x[i] + (1 - alpha) * out[i - 1]
    return out


def sma(x, n):
    c = np.cumsum(np.insert(x, 0, 0))
    return (c[n:] - c[:-n]) / n


def rsi(x, n=14):
    delta = np.diff(x)
    up = np.clip(delta, 0, None)
    down = -np.clip(delta, None, 0)
    rs = sma(up, n) / (sma(down, n) + 1e-12)
    return 100 - 100 / (1 + rs)


def indicators(close):
    macd = ema(close, 12) - ema(close, 26)
    signal = ema(macd, 9)
    cross = np.sign(macd - signal)
    buys = np.sum((cross[1:] > 0) & (cross[:-1] <= 0))
    peak = np.maximum.accumulate(close)
    drawdown = ((peak - close) / peak).max()
    return {"rsi": rsi(close), "macd": macd, "signal": signal, "buys": buys, "max_drawdown": drawdown}
