import numpy as np
from functools import reduce, partial, singledispatch, lru_cache, cached_property
from operator import itemgetter, attrgetter, mul
from itertools import accumulate, chain, groupby, islice, product, combinations, permutations, starmap, takewhile, zip_longest

compose = lambda *fs: reduce(lambda f, g: lambda x: g(f(x)), fs)
pipeline = compose(np.sqrt, partial(np.round, decimals=3), np.ndarray.tolist)
print(pipeline(np.arange(6.0)))

@singledispatch
def describe(x):
    return f"object {x!r}"

@describe.register
def _(x: int):
    return f"int {x:+d}"

@describe.register(list)
def _(x):
    return "list of " + ", ".join(describe(e) for e in x)

@describe.register
def _(x: np.ndarray):
    return f"array {x.dtype}{x.shape}"

print(describe(3), describe([1, 2.5]), describe(np.zeros((2, 3))), describe("s"))
print(list(accumulate([1, 2, 3, 4], mul)))
data = [("a", 3), ("b", 1), ("a", 2), ("c", 9), ("b", 7)]
data.sort(key=itemgetter(0, 1))
for k, g in groupby(data, key=itemgetter(0)):
    print(k, [v for _, v in g])
print(list(islice(chain.from_iterable(permutations(range(3), 2)), 7)))
print(list(starmap(pow, [(2, 3), (3, 2)])), list(takewhile(lambda v: v < 3, range(10))))
print(list(zip_longest([1, 2, 3], "ab", fillvalue="-")))
class Circle:
    def __init__(self, r): self.r = r
    @cached_property
    def area(self):
        print("computing")
        return np.pi * self.r ** 2
    @property
    def d(self): return 2 * self.r
    @d.setter
    def d(self, v): self.r = v / 2
    @staticmethod
    def unit(): return Circle(1)
    @classmethod
    def of(cls, d): return cls(d / 2)
c = Circle.of(4)
print(f"{c.area:.4f} {c.area:.4f}"); c.d = 10; print(c.r, Circle.unit().d)
