import heapq
import itertools
import logging
import numpy as np
from dataclasses import dataclass, field
from collections import Counter

logging.basicConfig(level=logging.WARNING)
log = logging.getLogger(__name__)


@dataclass(order=True)
class Event:
    time: float
    seq: int
    kind: str = field(compare=False)
    who: int = field(compare=False, default=-1)


class Sim:
    def __init__(self, servers=2, lam=1.2, mu=0.7, horizon=25.0, seed=6):
        self.rng = np.random.default_rng(seed)
        self.lam, self.mu, self.horizon = lam, mu, horizon
        self.free = servers
        self.queue, self.events, self.waits = [], [], {}
        self.counter = itertools.count()
        self.stats = Counter()
        self.area = self.last = 0.0

    def push(self, dt, kind, who=-1):
        heapq.heappush(self.events, Event(self.now + dt, next(self.counter), kind, who))

    def run(self):
        self.now = 0.0
        self.push(self.rng.exponential(1 / self.lam), "arrive", 0)
        arrived = {}
        while self.events:
            ev = heapq.heappop(self.events)
            if ev.time > self.horizon:
                log.debug("horizon reached at %s", ev)
                break
            self.area += len(self.queue) * (ev.time - self.last)
            self.now = self.last = ev.time
            self.stats[ev.kind] += 1
            getattr(self, f"on_{ev.kind}")(ev, arrived)
        return self

    def on_arrive(self, ev, arrived):
        arrived[ev.who] = ev.time
        self.queue.append(ev.who)
        self.push(self.rng.exponential(1 / self.lam), "arrive", ev.who + 1)
        self.start(arrived)

    def on_leave(self, ev, arrived):
        self.free += 1
        self.start(arrived)

    def start(self, arrived):
        while self.free and self.queue:
            who = self.queue.pop(0)
            self.waits[who] = self.now - arrived[who]
            self.free -= 1
            self.push(self.rng.exponential(1 / self.mu), "leave", who)


s = Sim().run()
w = np.array(list(s.waits.values()))
print(dict(s.stats), len(w), f"mean wait {w.mean():.4f} max {w.max():.4f} queue {s.area / s.horizon:.4f}")
print(np.histogram(w, bins=[0, 1e-9, 1, 2, 5, 100])[0])
print(Event(1.0, 2, "x") < Event(1.0, 3, "a"), Event(1.0, 2, "x"))
