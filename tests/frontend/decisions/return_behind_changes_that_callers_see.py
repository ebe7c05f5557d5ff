import numpy as np


class Counter:
    def __init__(self):
        self.n, self.v = 0, np.zeros(2)

    def step(self, x):
        if x.sum() > 0:
            self.n = 5
            self.v = x[:2]
            return 1
        self.n = 7
        self.v = x[1:3]
        return 2


def both(a, x):
    if x.sum() > 0:
        a += 1
        return 1
    a += 2
    return 2


def rounds(a, held, x, limit):
    for i in range(limit):
        a[i] += x[i]
        held["k"] = a * 2
        if x.sum() > 1 - i:
            return i
        a *= 0.5
    return limit


count = 0


def counted(x):
    global count
    while np.abs(x).sum() < 100:
        count += 1
        if x[0] > 3:
            return x
        x = x * 1.5
    return x * 2


def forward(x: "float64[5]"):
    a, c = np.zeros(5), Counter()
    held = {"k": a}
    n = both(a, x) + rounds(a, held, x, 3) + c.step(x)
    first = a.copy()
    m = both(a, -x) + rounds(a, held, -x, 4)
    global count
    count = 0
    y = counted(x)
    return n, m, first, a, held["k"], c.n, c.v, y, count
