import heapq
from collections import defaultdict, namedtuple
from contextlib import contextmanager

import numpy as np

Request = namedtuple("Request", ["time", "user", "cost"], defaults=[1])


class TokenBucket:
    def __init__(self, rate, burst):
        self.rate, self.burst = rate, burst
        self.tokens, self.last = float(burst), 0.0

    def allow(self, now, cost=1):
        self.tokens = min(self.burst, self.tokens + (now - self.last) * self.rate)
        self.last = now
        if ok := self.tokens >= cost:
            self.tokens -= cost
        return ok


stats = defaultdict(lambda: {"ok": 0, "dropped": 0, "last": None})


@contextmanager
def audit(name, sink):
    sink.append(f"begin {name}")
    try:
        yield sink
    except ZeroDivisionError as e:
        sink.append(f"failed: {e}")
    else:
        sink.append("clean")
    finally:
        sink.append(f"end {name}")


rng = np.random.default_rng(21)
events = []
for user, lam in (("ann", 2.0), ("bob", 5.0)):
    for t in np.cumsum(rng.exponential(1 / lam, 12)):
        heapq.heappush(events, Request(round(float(t), 4), user, int(rng.integers(1, 3))))
buckets = defaultdict(lambda: TokenBucket(2.0, 4))
lines = []
with audit("simulation", lines):
    while events:
        req = heapq.heappop(events)
        ok = buckets[req.user].allow(req.time, req.cost)
        entry = stats[req.user]
        entry["ok" if ok else "dropped"] += 1
        entry["last"] = req.time
with audit("ratio", lines):
    print({u: s["ok"] / s["dropped"] for u, s in sorted(stats.items()) if u != "ann" or s["dropped"]})
    1 // 0
print(*lines, sep="; ")
for user, s in sorted(stats.items()):
    print(f"{user}: {s['ok']:>2} accepted, {s['dropped']:>2} dropped, last at {s['last']:.2f}s, tokens {buckets[user].tokens:.3f}")
print(Request(1.0, "x"), Request._fields)
