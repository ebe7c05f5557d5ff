import numpy as np
from typing import Iterable, Iterator


def spans(prices: Iterable[float]) -> Iterator[int]:
    stack: list[tuple[int, float]] = []
    for i, p in enumerate(prices):
        while stack and stack[-1][1] <= p:
            stack.pop()
        yield i - (stack[-1][0] if stack else -1)
        stack.append((i, p))


def largest_rectangle(h):
    best, stack = 0, [-1]
    for i, x in enumerate([*h, 0]):
        while stack[-1] != -1 and h[stack[-1]] >= x:
            height = h[stack.pop()]
            best = max(best, height * (i - stack[-1] - 1))
        stack.append(i)
    return best


def max_drawdown(p):
    peak = np.maximum.accumulate(p)
    dd = 1 - p / peak
    end = int(dd.argmax())
    return dd[end], int(p[: end + 1].argmax()), end


def best_trades(p, fee=0.0):
    hold, cash = -float("inf"), 0.0
    for x in p:
        hold, cash = max(hold, cash - x), max(cash, hold + x - fee)
    return cash


rng = np.random.default_rng(30)
prices = np.round(100 * np.exp(np.cumsum(rng.normal(0, 0.02, 24))), 2)
print(list(spans(prices)))
print("largest rectangle", largest_rectangle([2, 1, 5, 6, 2, 3]), largest_rectangle((prices // 10).astype(int).tolist()))
dd, start, end = max_drawdown(prices)
print(f"drawdown {dd:.2%} from {start} to {end}")
print("trades", round(float(best_trades(prices)), 2), round(float(best_trades(prices, fee=1.5)), 2))
win = 5
sma = np.convolve(prices, np.ones(win) / win, mode="valid")
cross = np.flatnonzero(np.diff(np.sign(prices[win - 1:] - sma)))
print("crossings", cross + win)
ranks = prices.argsort().argsort()
print("top three days", np.sort(np.argpartition(-prices, 3)[:3]), ranks[:5])
