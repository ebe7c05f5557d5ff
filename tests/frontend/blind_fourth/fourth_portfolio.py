import numpy as np
from datetime import datetime, timedelta

TICKERS = ["AAA", "BBB", "CCC", "DDD"]


def simulate_prices(n=120, seed=99):
    rs = np.random.RandomState(seed)
    corr = 0.3 * np.ones((4, 4)) + 0.7 * np.eye(4)
    Lc = np.linalg.cholesky(corr)
    rets = rs.randn(n, 4) @ Lc.T * [0.01, 0.015, 0.02, 0.012] + 0.0004
    return 100 * np.cumprod(1 + rets, axis=0)


def rolling_mean(x, w):
    c = np.cumsum(np.insert(x, 0, 0.0))
    return (c[w:] - c[:-w]) / w


def ema(x, span):
    a = 2 / (span + 1)
    out = [x[0]]
    for v in x[1:]:
        out.append(a * v + (1 - a) * out[-1])
    return np.array(out)


def max_drawdown(p):
    peak = np.maximum.accumulate(p)
    dd = (p - peak) / peak
    end = dd.argmin()
    return dd.min(), p[:end + 1].argmax(), end


def rsi(p, n=14):
    d = np.diff(p)
    up, dn = d.clip(min=0), -d.clip(max=0)
    rs = ema(up, n) / np.where((e := ema(dn, n)) == 0, np.nan, e)
    return 100 - 100 / (1 + rs)


P = simulate_prices()
R = np.diff(np.log(P), axis=0)
cov = np.cov(R, rowvar=False) * 252
mu = R.mean(0) * 252
ones = np.ones(len(mu))
inv = np.linalg.inv(cov)
w = inv @ ones / (ones @ inv @ ones)
start = datetime(2023, 1, 2)
print("start:", start.strftime("%Y-%m-%d"), "end:", (start + timedelta(days=len(P))).date().isoformat())
for t, wi, m in zip(TICKERS, w, mu):
    print(f"{t}: weight {wi:7.2%}, return {m:+.2%}")
port = (P / P[0]) @ w
dd, i, j = max_drawdown(port)
print(f"drawdown {dd:.2%} from {i} to {j}")
fast, slow = rolling_mean(port, 5), rolling_mean(port, 20)
fast = fast[-len(slow):]
cross = np.flatnonzero(np.diff(np.sign(fast - slow)))
print("crossovers:", cross)
print("rsi", rsi(port)[-3:].round(2), "sharpe", round(R.dot(w).mean() / R.dot(w).std() * 252**0.5, 3))
print(np.corrcoef(R.T).round(3))
var95 = np.quantile(R @ w, 0.05)
cvar = (R @ w)[(R @ w) <= var95].mean()
print(f"VaR {var95:.5f} CVaR {cvar:.5f}")
