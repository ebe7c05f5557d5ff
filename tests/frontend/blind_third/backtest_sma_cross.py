import numpy as np

rng = np.random.default_rng(99)
returns = rng.normal(0.0004, 0.01, 250)
prices = 100 * np.cumprod(1 + returns)


def sma(x, n):
    c = np.cumsum(np.insert(x, 0, 0.0))
    return (c[n:] - c[:-n]) / n


fast, slow = sma(prices, 10), sma(prices, 30)
fast = fast[-len(slow):]
px = prices[-len(slow):]
position, cash, shares = 0, 10_000.0, 0.0
trades = []
for i in range(1, len(px)):
    if fast[i] > slow[i] and position == 0:
        shares = cash / px[i]
        cash = 0.0
        position = 1
        trades.append(("BUY", i, px[i]))
    elif fast[i] < slow[i] and position == 1:
        cash = shares * px[i]
        shares = 0.0
        position = 0
        trades.append(("SELL", i, px[i]))
equity = cash + shares * px[-1]
for side, day, price in trades:
    print(f"{side:<4} day {day:3d} @ {price:8.2f}")
peak = np.maximum.accumulate(prices)
print(f"equity {equity:.2f}  buy&hold {10000 * px[-1] / px[0]:.2f}  max drawdown {((peak - prices) / peak).max():.2%}")
