import numpy as np


class Warehouse:
    """(s, S) inventory policy."""

    def __init__(self, s, S, seed):
        self.s, self.S = s, S
        self.stock = S
        self.rng = np.random.default_rng(seed)
        self.orders = 0
        self.lost = 0

    def day(self):
        demand = self.rng.poisson(12)
        sold = min(self.stock, int(demand))
        self.lost += demand - sold
        self.stock -= sold
        if self.stock < self.s:
            self.orders += 1
            self.stock = self.S
        return sold


results = []
for s, S in [(10, 40), (20, 60), (30, 90)]:
    w = Warehouse(s, S, seed=11)
    sold = [w.day() for _ in range(60)]
    results.append((s, S, sum(sold), w.orders, int(w.lost)))
print("%5s %5s %7s %7s %6s" % ("s", "S", "sold", "orders", "lost"))
for row in results:
    print("%5d %5d %7d %7d %6d" % row)
