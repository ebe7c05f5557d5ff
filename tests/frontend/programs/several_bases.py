import sys
from collections import OrderedDict
from dataclasses import dataclass
from functools import cached_property, total_ordering

import numpy as np


class Base:
    def __init__(self, scale):
        self.scale = scale

    def run(self, x):
        return f"base({x * self.scale})"


class Loud(Base):
    def run(self, x):
        return super().run(x).upper() + "!"


class Twice(Base):
    def run(self, x):
        return super().run(x) * 2


class Both(Loud, Twice):
    @cached_property
    def heavy(self):
        print("computing")
        return self.scale**2


both = Both(3)
print(both.run(2), both.heavy, both.heavy, [c.__name__ for c in Both.__mro__], isinstance(both, Twice))


@dataclass(frozen=True, order=True)
class Point:
    x: int
    y: int


@total_ordering
class Version:
    def __init__(self, *parts):
        self.parts = parts

    def __eq__(self, other):
        return self.parts == other.parts

    def __lt__(self, other):
        return self.parts < other.parts

    def __iadd__(self, n):
        return Version(*self.parts, n)


seen = {Point(1, 2), Point(0, 5), Point(1, 2)}
print(len(seen), sorted(seen), {Point(1, 1): "a"}[Point(1, 1)], Point(1, 2) < Point(1, 3), seen)
a, b = Version(1, 2), Version(1, 3)
print(a < b, a <= b, a > b, a >= b, a != b, max(a, b).parts)
a += 7
print(a.parts, a <= Version(1, 2, 7))
d = OrderedDict(one=1, two=2, three=3)
d.move_to_end("one")
print(d, d.popitem(last=False), list(d))
print("to the end", file=sys.stdout)
sys.stdout.write("written\n")


def main():
    if np.ones(2).sum() > 1:
        return 0
    return 1


if __name__ == "__main__":
    sys.exit(main())
