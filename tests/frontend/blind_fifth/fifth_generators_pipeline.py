import itertools as it
from collections import namedtuple, deque, ChainMap
import numpy as np

Reading = namedtuple("Reading", "t sensor value", defaults=[0.0])


def source(n, seed):
    rng = np.random.default_rng(seed)
    for t in range(n):
        yield Reading(t, "AB"[t % 2], round(float(rng.normal(10 + t * 0.1, 1)), 3))
    yield Reading(n, "A")


def window(stream, size):
    buf = deque(maxlen=size)
    for r in stream:
        buf.append(r.value)
        if len(buf) == size:
            yield r.t, np.mean(buf)


def averager():
    total, count, avg = 0.0, 0, None
    while True:
        try:
            x = yield avg
        except ValueError:
            total, count = 0.0, 0
            continue
        if x is None:
            return total
        total += x
        count += 1
        avg = total / count


rows = list(source(12, 3))
print(rows[0], rows[-1], rows[-1]._asdict(), rows[0]._replace(value=1.0))
for t, m in it.islice(window(rows, 4), 3):
    print(f"{t:2d} {m:.4f}")
by = {k: [r.value for r in g] for k, g in it.groupby(sorted(rows, key=lambda r: r.sensor), key=lambda r: r.sensor)}
print({k: (len(v), round(np.mean(v), 3)) for k, v in by.items()})
a = averager()
next(a)
for r in rows[:4]:
    last = a.send(r.value)
print(round(last, 4))
a.throw(ValueError)
a.send(2.0)
try:
    a.send(None)
except StopIteration as stop:
    print("returned", stop.value)
print(list(it.accumulate([1, 2, 3, 4], lambda x, y: x * y)), list(it.pairwise(range(4))), list(it.zip_longest("ab", [1, 2, 3], fillvalue="-")))
print(list(it.takewhile(lambda v: v < 3, it.count())), list(it.starmap(pow, [(2, 3), (3, 2)])), list(it.compress("ABCD", [1, 0, 1, 0])))
print(sum(1 for _ in it.product(range(3), repeat=3)), next(it.permutations("abc", 2)), list(it.combinations_with_replacement("ab", 2)))
cfg = ChainMap({"lr": 0.1}, {"lr": 0.01, "epochs": 3})
print(cfg["lr"], cfg["epochs"], dict(cfg) == {"lr": 0.1, "epochs": 3})
x = np.fromiter((r.value for r in rows), float, count=len(rows))
d = np.diff(x, prepend=x[0])
runs = [(k, sum(1 for _ in g)) for k, g in it.groupby((d > 0).tolist())]
print(runs)
tee1, tee2 = it.tee(iter(range(5)))
print([b - a for a, b in zip(tee1, it.islice(tee2, 1, None))], it.chain([1], [2]).__next__())
