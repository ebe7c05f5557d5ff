import heapq
import itertools
from enum import Enum, auto

import numpy as np


class Kind(Enum):
    ARRIVE = auto()
    FINISH = auto()


class Simulation:
    def __init__(self, servers, lam, mu, seed):
        self.rng = np.random.default_rng(seed)
        self.lam, self.mu = lam, mu
        self.free = servers
        self.events = []
        self.counter = itertools.count()
        self.waiting = []
        self.waits = []
        self.now = 0.0

    def schedule(self, delay, kind, payload=None):
        heapq.heappush(self.events, (self.now + delay, next(self.counter), kind, payload))

    def run(self, patients):
        t = 0.0
        for pid in range(patients):
            t += self.rng.exponential(1 / self.lam)
            self.schedule(t, Kind.ARRIVE, (int(self.rng.integers(1, 4)), pid))
        while self.events:
            self.now, _, kind, payload = heapq.heappop(self.events)
            match kind:
                case Kind.ARRIVE:
                    heapq.heappush(self.waiting, (*payload, self.now))
                case Kind.FINISH:
                    self.free += 1
            while self.free and self.waiting:
                prio, pid, since = heapq.heappop(self.waiting)
                self.free -= 1
                self.waits.append((prio, self.now - since))
                self.schedule(self.rng.exponential(1 / self.mu), Kind.FINISH)
        return np.array(self.waits)


sim = Simulation(servers=2, lam=1.0, mu=0.55, seed=9)
w = sim.run(40)
print(f"finished at {sim.now:.3f}")
for p in (1, 2, 3):
    sel = w[w[:, 0] == p, 1]
    print(f"priority {p}: n={len(sel)} mean={sel.mean():.3f} max={sel.max():.3f}")
print("served", len(w), "zero waits", int((w[:, 1] == 0).sum()), list(Kind))
