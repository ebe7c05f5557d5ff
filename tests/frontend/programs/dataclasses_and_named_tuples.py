from collections import namedtuple
from dataclasses import asdict, dataclass, field, replace
from typing import NamedTuple, Optional

import numpy as np


@dataclass
class Config:
    width: int
    heads: int = 2
    names: list = field(default_factory=list)
    scale: Optional[float] = None
    hidden: int = field(init=False, repr=False, compare=False)

    def __post_init__(self):
        self.hidden = 4 * self.width
        if self.scale is None:
            self.scale = self.head**-0.5

    @property
    def head(self):
        return self.width // self.heads


@dataclass(frozen=True)
class Point:
    x: float = 0.0
    y: float = field(default=1.0)

    def moved(self, by):
        return replace(self, x=self.x + by)


@dataclass(frozen=True, kw_only=True)
class Named(Point):
    name: str = "p"


class Pair(NamedTuple):
    first: np.ndarray
    second: int = 3

    def total(self):
        return self.first + self.second


Cell = namedtuple("Cell", "h c", defaults=[0])


class Deep(Cell):
    def twice(self):
        return self.h * 2


c, d = Config(8), Config(8, heads=2)
c.names.append("q")
print(c, d, c == d, c.hidden, c.head, c.names, d.names)
d.names += ["q"]
print(c == d, asdict(c), replace(c, width=16, scale=None))
p = Point(2.0).moved(0.5)
print(p, p == Point(2.5), Point() == Point(0.0, 1.0), Named(name="n"), p.x + p.y, Point.y, [Point()])
pair = Pair(np.arange(2))
first, second = pair
print(pair, pair.first, pair[1], pair.total(), len(pair), second, pair._replace(second=5).second, Pair._fields)
cell = Cell(np.ones(2))
h, c = cell
print(cell, h, c, cell._asdict(), cell + (1,), Cell(1, 2) == (1, 2), isinstance(cell, tuple), Deep(3).twice(), Deep(3, 4))


def step(state, x):
    return state._replace(h=np.tanh(state.h + x), c=state.c + 1)


for i in range(3):
    cell = step(cell, i)
print(cell.c, np.round(cell.h, 0), *Cell(5, 6))


class Transformer:
    @dataclass
    class Options:
        depth: int = 2

    def __init__(self, options=None):
        self.options = options or Transformer.Options()

    def __call__(self, x):
        for _ in range(self.options.depth):
            x = x + 1
        return x


print(Transformer()(0), Transformer(Transformer.Options(depth=5))(np.zeros(2)))
