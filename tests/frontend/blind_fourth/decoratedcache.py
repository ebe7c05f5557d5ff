from functools import cache, cached_property, total_ordering, singledispatch
from fractions import Fraction
from decimal import Decimal
import bisect
import copy
import numpy as np


@cache
def catalan(n):
    return 1 if n < 2 else sum(catalan(i) * catalan(n - 1 - i) for i in range(n))


@total_ordering
class Version:
    def __init__(self, s):
        self.parts = tuple(int(p) for p in s.split("."))

    def __eq__(self, o):
        return self.parts == o.parts

    def __lt__(self, o):
        return self.parts < o.parts

    def __hash__(self):
        return hash(self.parts)

    def __str__(self):
        return "v" + ".".join(map(str, self.parts))


class Poly:
    def __init__(self, *c):
        self.c = np.array(c, dtype=float)

    @cached_property
    def roots(self):
        return np.sort(np.roots(self.c).real)

    def __call__(self, x):
        return np.polyval(self.c, x)

    def __matmul__(self, other):
        return Poly(*np.convolve(self.c, other.c))

    def __len__(self):
        return self.c.size

    def __getitem__(self, i):
        return self.c[::-1][i]

    def deriv(self):
        return Poly(*np.polyder(self.c))


@singledispatch
def describe(x):
    return "object"


@describe.register
def _(x: int):
    return f"int {x}"


@describe.register
def _(x: str):
    return f"str of {len(x)}"


print([catalan(i) for i in range(12)])
vs = sorted(map(Version, ["1.10.0", "1.2.3", "0.9"]))
print(*vs, max(vs) >= Version("1.10"))
p = Poly(1, -6, 11, -6) @ Poly(1, 0)
print(len(p), p[0], p[1], p(2.0), p.deriv()(0.5))
print(np.round(Poly(1, -6, 11, -6).roots, 6))
print(Fraction(1, 3) + Fraction(1, 6), float(Fraction(3, 7)))
print(Decimal("0.1") + Decimal("0.2"))
grades = [60, 70, 80, 90]
print(["FDCBA"[bisect.bisect(grades, s)] for s in (33, 99, 77, 70, 89, 90, 100)])
state = {"a": [1, 2, {"b": np.arange(3)}]}
other = copy.deepcopy(state)
other["a"][2]["b"][0] = 99
print(state["a"][2]["b"], other["a"][2]["b"])
print(describe(3), describe("abc"), describe(2.5))
