import numpy as np
from dataclasses import dataclass, field
from typing import Dict, List


@dataclass
class Store:
    stock: int = 50
    reorder_point: int = 20
    lot: int = 40
    lead: int = 2
    pipeline: List[tuple] = field(default_factory=list)
    stats: Dict[str, int] = field(default_factory=lambda: {"lost": 0, "orders": 0})

    def day(self, t, demand):
        arrived = [q for due, q in self.pipeline if due == t]
        self.stock += sum(arrived)
        self.pipeline = [(due, q) for due, q in self.pipeline if due > t]
        sold = min(demand, self.stock)
        self.stats["lost"] += demand - sold
        self.stock -= sold
        if self.stock <= self.reorder_point and not self.pipeline:
            self.pipeline.append((t + self.lead, self.lot))
            self.stats["orders"] += 1
        return self.stock


demand = [12, 8, 15, 9, 20, 3, 18, 11, 7, 16]
store = Store()
levels = np.array([store.day(t, d) for t, d in enumerate(demand)])
print(levels)
print(store.stats, f"service level {1 - store.stats['lost'] / sum(demand):.3f}")
