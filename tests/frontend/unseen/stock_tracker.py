from collections import deque
from typing import Deque, List, Optional, Tuple

import numpy as np


class RollingWindow:
    def __init__(self, size: int) -> None:
        self.size = size
        self.data: Deque[float] = deque(maxlen=size)

    def push(self, v: float) -> None:
        self.data.append(v)

    @property
    def full(self) -> bool:
        return len(self.data) == self.size

    def mean(self) -> Optional[float]:
        return float(np.mean(self.data)) if self.full else None

    def zscore(self, v: float) -> float:
        s = np.std(self.data)
        return (v - np.mean(self.data)) / s if s > 0 else 0.0


def backtest(prices: np.ndarray, window: int, entry: float = 1.0) -> List[Tuple[int, str, float]]:
    w = RollingWindow(window)
    position = 0
    trades: List[Tuple[int, str, float]] = []
    for day, price in enumerate(prices):
        if w.full:
            z = w.zscore(price)
            if position == 0 and z < -entry:
                position = 1
                trades.append((day, "BUY", float(price)))
            elif position == 1 and z > 0:
                position = 0
                trades.append((day, "SELL", float(price)))
        w.push(price)
    return trades


rng = np.random.default_rng(11)
prices = 50 + np.cumsum(rng.normal(0, 0.5, 80))
trades = backtest(prices, 10)
pnl = 0.0
for (d0, _, p0), (d1, _, p1) in zip(trades[::2], trades[1::2]):
    print(f"day {d0:3d} -> {d1:3d}: {p1 - p0:+.3f}")
    pnl += p1 - p0
print("trades:", len(trades), "pnl: %.3f" % pnl)
