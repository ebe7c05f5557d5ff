import numpy as np
from contextlib import contextmanager
from enum import Enum, auto
from functools import lru_cache, wraps, singledispatch
import time


class Kind(Enum):
    CALL = auto()
    PUT = auto()

    def payoff(self, s, k):
        return np.maximum(s - k, 0) if self is Kind.CALL else np.maximum(k - s, 0)


@contextmanager
def section(title, width=30):
    print(title.center(width, "="))
    try:
        yield width
    finally:
        print("-" * width)


def validate(**rules):
    def deco(fn):
        @wraps(fn)
        def wrapper(*args, **kwargs):
            for name, rule in rules.items():
                if name in kwargs and not rule(kwargs[name]):
                    raise ValueError(f"{fn.__name__}: bad {name}={kwargs[name]!r}")
            return fn(*args, **kwargs)
        return wrapper
    return deco


@validate(steps=lambda n: n > 0, vol=lambda v: v > 0)
def crr(s0, k, *, r, vol, t, steps, kind, american=False):
    dt = t / steps
    u = np.exp(vol * np.sqrt(dt))
    d = 1 / u
    p = (np.exp(r * dt) - d) / (u - d)
    disc = np.exp(-r * dt)
    s = s0 * u ** np.arange(steps, -steps - 1, -2.0)
    v = kind.payoff(s, k)
    for i in range(steps - 1, -1, -1):
        v = disc * (p * v[:-1] + (1 - p) * v[1:])
        if american:
            s = s0 * u ** np.arange(i, -i - 1, -2.0)
            v = np.maximum(v, kind.payoff(s, k))
    return v.item()


@lru_cache(maxsize=None)
def binom(n, k):
    return 1 if k in (0, n) else binom(n - 1, k - 1) + binom(n - 1, k)


@singledispatch
def fmt(x):
    return str(x)


@fmt.register
def _(x: float):
    return f"{x:8.4f}"


@fmt.register(list)
def _(x):
    return "[" + ", ".join(fmt(v) for v in x) + "]"


with section("European"):
    for kind in Kind:
        print(f"{kind.name:<5}", fmt(crr(100, 105, r=0.03, vol=0.2, t=1, steps=64, kind=kind)))
with section("American") as w:
    vals = [crr(100, 105, r=0.03, vol=v, t=1, steps=32, kind=Kind.PUT, american=True) for v in (0.1, 0.2, 0.4)]
    print(fmt(vals), w)
try:
    crr(100, 105, r=0.03, vol=0.2, t=1, steps=0, kind=Kind.CALL)
except ValueError as e:
    print("error:", e)
else:
    print("not reached")
finally:
    print("done", binom(20, 10), binom.cache_info().currsize > 0)
t0 = time.perf_counter()
crr(100, 100, r=0.01, vol=0.3, t=0.5, steps=16, kind=Kind.CALL)
elapsed = time.perf_counter() - t0
print(elapsed >= 0)
