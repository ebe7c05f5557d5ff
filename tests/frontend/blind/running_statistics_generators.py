import itertools
import statistics

import numpy as np


def sensor(seed, drift=0.01):
    rng = np.random.default_rng(seed)
    level = 20.0
    while True:
        level += drift + rng.normal(0, 0.1)
        yield level


def windowed(stream, size):
    it = iter(stream)
    buf = list(itertools.islice(it, size))
    if len(buf) == size:
        yield tuple(buf)
    for v in it:
        buf = buf[1:] + [v]
        yield tuple(buf)


def welford():
    n, mean, m2 = 0, 0.0, 0.0
    out = None
    while True:
        x = yield out
        n += 1
        d = x - mean
        mean += d / n
        m2 += d * (x - mean)
        out = (n, mean, (m2 / (n - 1)) ** 0.5 if n > 1 else float("nan"))


readings = list(itertools.islice(sensor(3), 24))
acc = welford()
next(acc)
for r in readings:
    state = acc.send(r)
print("n=%d mean=%.5f std=%.5f" % state)
print("check", np.isclose(state[1], np.mean(readings)), np.isclose(state[2], np.std(readings, ddof=1)))
means = [sum(w) / len(w) for w in windowed(readings, 6)]
print(len(means), [round(m, 3) for m in means[::6]])
print(round(statistics.median(readings), 4), round(statistics.pstdev(readings), 4))
alarms = [i for i, (a, b) in enumerate(itertools.pairwise(readings)) if abs(b - a) > 0.15]
print("alarms:", alarms)
for key, grp in itertools.groupby(readings, key=lambda v: int(v * 2) / 2):
    print(key, len(list(grp)))
acc.close()
