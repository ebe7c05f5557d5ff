import numpy as np
class Fenwick:
    __slots__ = ("n", "t")
    def __init__(self, a):
        self.n = len(a)
        self.t = np.zeros(self.n + 1, dtype=np.int64)
        for i, v in enumerate(a):
            self.add(i, v)
    def add(self, i, v):
        i += 1
        while i <= self.n:
            self.t[i] += v
            i += i & -i
    def sum(self, i):
        s = 0
        while i > 0:
            s += self.t[i]
            i -= i & -i
        return s
    def __getitem__(self, sl):
        return self.sum(sl.stop) - self.sum(sl.start or 0)
f = Fenwick([3, 1, 4, 1, 5, 9, 2, 6])
print(f[2:5], f[:8])
f.add(3, 10)
print(f[2:5], f.t)
