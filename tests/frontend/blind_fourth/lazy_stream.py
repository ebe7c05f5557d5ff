"""Streaming statistics: generators, send, protocols, __iter__, __contains__, slots."""
from collections import deque
from collections.abc import Iterator
import itertools as it
import operator as op
import numpy as np


def running_mean():
    total, n, mean = 0.0, 0, None
    while True:
        x = yield mean
        total += x
        n += 1
        mean = total / n


def window(seq, n):
    d = deque(maxlen=n)
    for x in seq:
        d.append(x)
        if len(d) == n:
            yield tuple(d)


class Welford:
    __slots__ = "n", "mean", "m2"

    def __init__(self):
        self.n, self.mean, self.m2 = 0, 0.0, 0.0

    def __iadd__(self, x):
        self.n += 1
        delta = x - self.mean
        self.mean += delta / self.n
        self.m2 += delta * (x - self.mean)
        return self

    @property
    def var(self):
        return self.m2 / (self.n - 1) if self.n > 1 else float("nan")

    def __format__(self, spec):
        return f"{self.mean:{spec or '.3f'}}±{self.var ** 0.5:{spec or '.3f'}}"


class Ring:
    def __init__(self, size):
        self.buf = np.zeros(size)
        self.i = 0

    def push(self, x):
        self.buf[self.i % len(self.buf)] = x
        self.i += 1

    def __len__(self):
        return min(self.i, len(self.buf))

    def __iter__(self):
        n = len(self)
        for k in range(self.i - n, self.i):
            yield self.buf[k % len(self.buf)]

    def __getitem__(self, k):
        if isinstance(k, slice):
            return [self[j] for j in range(*k.indices(len(self)))]
        return list(self)[k]

    def __contains__(self, x):
        return any(np.isclose(x, v) for v in self)

    def __bool__(self):
        return self.i > 0


rng = np.random.default_rng(2)
stream = rng.normal(10, 2, 30)
g = running_mean()
next(g)
m = [g.send(x) for x in stream][-1]
print(f"{m:.6f}", np.isclose(m, stream.mean()))
w = Welford()
for x in stream:
    w += x
print(f"{w} {w:.5f}", np.isclose(w.var, stream.var(ddof=1)))
print([round(max(t) - min(t), 3) for t in window(stream, 10)][:4])
r = Ring(4)
print(bool(r), end=" | ")
for v in (1, 2, 3, 4, 5, 6):
    r.push(v)
print(list(r), r[-1], r[1:3], 5 in r, 1 in r, len(r))
pairs = list(it.pairwise([1, 4, 9, 16]))
print(list(it.starmap(op.sub, ((b, a) for a, b in pairs))))
evens, odds = [list(filter(f, range(8))) for f in (lambda v: v % 2 == 0, lambda v: v % 2)]
print(evens, odds, list(map(op.mul, evens, odds)), list(it.compress("ABCD", [1, 0, 1, 0])))
print(list(it.dropwhile(lambda v: v < 3, [1, 2, 3, 1])), dict(zip("ab", it.count(5, 5))))
a, *b, c = "hello"
print(a, b, c, {**{"x": 1}, "y": 2} | {"x": 3}, [*range(3), *"ab"])
first, second = it.tee(iter([1, 2, 3]))
print(sum(first), list(second), max("apple", "fig", key=len), sorted("bCa", key=str.lower), any([]), all([]))
