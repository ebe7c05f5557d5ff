import numpy as np


class Cache:
    size = 3
    shared = []
    table = {n: n * n for n in range(size)}

    def __init__(self):
        self.k = np.zeros((self.size, 2))
        self.step = 0
        self.log = {}

    def put(self, row):
        self.k[self.step] = row
        self.step += 1
        self.shared.append(self.step)
        self.log[self.step] = row
        return self

    def grow(self, by):
        self.k += by
        self.k[0, 1] -= 1
        Cache.size += 1

    def reset(self):
        del self.log
        self.k = np.ones(2)


a, b = Cache(), Cache()
a.put(np.arange(2.0)).put([5, 6])
alias = a.k
a.grow(0.5)
print(alias, a.k is alias, a.step, b.step, Cache.shared, b.shared is a.shared)
print(a.size, b.size, Cache.size, Cache.table, a.log)
b.size = 10
print(a.size, b.size, Cache.size)
a.reset()
print(a.k, alias[0], hasattr(a, "log"), hasattr(b, "log"), getattr(a, "log", "none"), getattr(np, "tanh")(0.0))
setattr(a, "extra", 7)
a.x, (a.y, *a.rest) = 1, (2, 3, 4)
print(a.extra, a.x, a.y, a.rest, list(vars(a)), a.__dict__["x"])
for a.x in range(3):
    pass
print(a.x, a.__class__.__name__, type(a) is Cache, type(a).__name__, Cache.__name__, type(3) is int, type(a.rest) is list)


class Counter:
    def __init__(self):
        self.__n = 0

    def __up(self, by):
        self.__n += by

    def twice(self):
        self.__up(1)
        self.__up(1)
        return self.__n


class Sub(Counter):
    def __init__(self):
        super().__init__()
        self.__n = 100


s = Sub()
print(s.twice(), list(vars(s)), s._Counter__n)
