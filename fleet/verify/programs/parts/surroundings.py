"""Statements around the function: the module's constants, arrays, functions and classes, some of which fleet cannot read."""

from __future__ import annotations

from fleet.verify.programs.parts.hand import Hand, KnownExpression

_READ = r"""
TABLE = np.arange(6).reshape(2, 3)
SCALE = {k}
--
{v} = {v} + TABLE[1, {k} % 3] * SCALE
{v} = {v} * TABLE.sum() + TABLE[0].size
{v} = {v} + TABLE.max() - TABLE.T[0, 1]
SCALE = 3\n{v} = {v} * SCALE
{v} = {v} + (TABLE * SCALE)[1].sum()
p = TABLE\n{v} = {v} + (p * 2).sum()
====
WEIGHTS = {{'a': np.ones(3), 'b': [np.arange(2), np.full((1, 2), {n})], 'c': (np.zeros(2), {{'d': np.eye(2)}})}}
--
{v} = {v} * WEIGHTS['b'][1][0, 1] + WEIGHTS['a'].sum()
{v} = {v} + np.exp(WEIGHTS['c'][1]['d']).sum() * WEIGHTS['a'].max()
for p in WEIGHTS['b']:\n    {v} = {v} + p.max()
p, q = WEIGHTS['c']\n{v} = {v} * q['d'].sum() - p.sum()
p = WEIGHTS['b'] + [WEIGHTS['a']]\n{v} = {v} + (p[0] + 1).sum() + (p[2] * 2).sum()
====
def outer(p, q={k}):
    return inner(p) + q


def inner(p, table=np.ones(2)):
    return p * {k} + table.sum()
--
{v} = outer({v})
{v} = outer({v}, {n}) + inner({v}, np.zeros(3))
p = outer\n{v} = p(q=2, p={v})
{v} = inner(outer({v}))
====
from collections import namedtuple
Pair = namedtuple('Pair', 'left right')
ONE = Pair(np.ones(2), right=np.zeros((1, 3)))
--
t = Pair({v}, {n})\n{v} = t.left + t.right
t = Pair(right={v}, left={k})\n{v} = t[1] + t.left + len(t)
p, q = Pair({v}, {k})\n{v} = p * q
t = Pair({v}, {k})._replace(right={n})\n{v} = t.left * t.right
t = Pair({v}, {k})\n{v} = {v} + sum(t[1:]) + (t == (t.left, {k}))
{v} = {v} + ONE.left.sum() * (ONE.right + 1).sum()
t = Pair({v}, {k})._asdict()\n{v} = t['left'] + t['right']
t = Pair(*({v}, {n}))\n{v} = t.left - t.right
t = Pair({k}, {n})\n{v} = {v} + t.index({k}) + t.count(9) + (1 if t else 2)
p = np.exp(ONE[1])\n{v} = {v} + p.sum()
====
from typing import NamedTuple


class Pair(NamedTuple):
    left: object
    right: float = {k}

    def both(self):
        return self.left + self.right
--
{v} = Pair({v}).both()
t = Pair({v}, right={n})\n{v} = t.left * t.right + t[1]
{v} = Pair(left={v})._replace(right=2).both()
====
from dataclasses import dataclass, field, replace


@dataclass
class Pair:
    left: object
    right: float = {k}
    rest: list = field(default_factory=list)

    def both(self):
        return self.left + self.right * len(self.rest)
--
{v} = Pair({v}).both()
t = Pair({v}, {n}, [1, 2])\nt.rest.append({k})\n{v} = t.both() - t.rest[-1]
t = replace(Pair({v}), right=3)\n{v} = t.left * t.right
{v} = {v} + (Pair(1, 2) == Pair(1, 2)) + (Pair(1, 2) != Pair(1, 3))
t = Pair(left={v})\nt.left += 1\nt.right = {n}\n{v} = t.left * t.right
====
from dataclasses import dataclass


@dataclass(frozen=True, eq=False)
class Pair:
    left: object
    right: float = {k}


@dataclass(kw_only=True)
class More(Pair.__class__ if False else object):
    third: int = {k}
--
{v} = {v} + More(third=2).third * Pair(1).right
t = Pair({v}, {n})\n{v} = t.left + t.right
====
class Base:
    scale = np.arange(1, 4)

    def __init__(self, p):
        self.p = p
        self.w = np.full(2, {n})

    def run(self):
        return self.p * self.scale[1]

    @classmethod
    def of(cls, p):
        return cls(p + 1)


class Net(Base):
    def __init__(self, p, q={k}):
        super().__init__(p)
        self.__q = q

    def run(self):
        return super().run() + self.__q + (self.w * 2).sum()


NET = Net({k})
--
{v} = Net({v}).run()
{v} = Base.of({v}).run()
{v} = {v} + NET.run() + NET.p
t = Net({v}, q=2)\nt.p = t.p + NET.w.sum()\n{v} = t.run()
{v} = {v} * isinstance(NET, Base) + (type(NET) is Net)
{v} = {v} + (Base.scale * 2).sum() + hasattr(NET, 'p')
p = NET.run\n{v} = {v} + p()
{v} = {v} + getattr(NET, 'p') + getattr(NET, 'z', {k})
====
rng = np.random.default_rng({k})
NOISE = rng.standard_normal((2, 3))
MORE = rng.integers(0, 9, size=4)
--
{v} = {v} + NOISE[0, 1]
{v} = {v} * MORE.sum() + NOISE.max()
{v} = {v} + rng.uniform(size=2).sum()
p = np.random.default_rng({k})\n{v} = {v} + p.random(3)[0] + NOISE[1, 2]
====
np.random.seed({k})
NOISE = np.random.rand(3)
MORE = np.random.randn(2, 2)
--
{v} = {v} + NOISE[{k} % 3]
{v} = {v} + np.random.randint(0, 5, size=2).sum() + MORE[0].sum()
{v} = {v} * np.random.normal(size=3).max()
====
if __name__ == '__main__':
    MODE = 1
else:
    MODE = 1
for STEP in range({k} + 1):
    MODE += STEP
assert MODE > 0
--
{v} = {v} + MODE * STEP
====
print('made', np.ones(2))
NAMES = [f'w{{i}}' for i in range(3)]
LAYERS = {{name: np.full(i + 1, i) for i, name in enumerate(NAMES)}}
first, *rest = LAYERS.values()
--
{v} = {v} + (LAYERS['w1'] + 1).sum() + len(NAMES)
{v} = {v} * (first + 1).sum() + rest[1].size
{v} = {v} + sum([(p * 2).sum() for p in rest])
====
try:
    import math
except ImportError:
    math = None
with np.errstate(all='ignore'):
    RATIO = np.ones(2) / 3
--
{v} = {v} + math.sqrt({k}) + RATIO.sum()
{v} = {v} * RATIO[0]
"""
_UNREAD = r"""
import os
HOME = os.sep
--
{v} = {v} + 1
--
{v} = {v} + len(HOME)
{v} = {v} + len(os.sep)
====
ODD = {{1, 2}}
EVEN = [2, 4]
--
{v} = {v} + EVEN[0]
--
{v} = {v} + len(ODD)
====
LIST = [1, 2]
OTHER = [3]
LIST.append(len({{1}}))
--
{v} = {v} + OTHER[0]
--
{v} = {v} + LIST[0]
{v} = {v} + len(LIST)
====
LIST = [1, 2]
OTHER = [3]
LIST[0] = len({{1}})
--
{v} = {v} + OTHER[0]
--
{v} = {v} + LIST[1]
====
LIST = [1, 2]
LIST += [len({{1}})]
TOTAL = sum(LIST)
--
{v} = {v} + 1
--
{v} = {v} + LIST[0]
{v} = {v} + TOTAL
====
W = np.ones(3)
W[0] = len({{1}})
--
{v} = {v} + 1
--
{v} = {v} + W[1]
====
TABLE = {{'a': 1}}
TABLE.update({{i: 1 for i in {{1, 2}}}})
--
{v} = {v} + 1
--
{v} = {v} + TABLE['a']
====
class Box:
    p = len({{1}})


KEPT = 3
--
{v} = {v} + KEPT
--
{v} = {v} + Box.p
{v} = {v} + Box().p
====
class Box:
    p = 1


BOX = Box()
BOX.p = len({{1, 2, 3}})
Box.q = len({{2}})
--
{v} = {v} + 1
--
{v} = {v} + BOX.p
{v} = {v} + Box.p
{v} = {v} + Box.q
====
rng = np.random.default_rng(1)
rng.shuffle([1, 2])
FEW = 2
--
{v} = {v} + FEW
--
{v} = {v} + rng.random(2)[0]
====
np.random.seed(3)
np.random.shuffle([1, 2])
--
np.random.seed(1)\n{v} = {v} + np.random.rand(2)[0]
--
{v} = {v} + np.random.rand(2)[0]
====
def helped(p, q=len({{1}})):
    return p


def plain(p):
    return p * 2
--
{v} = plain({v})
{v} = helped({v}, 2)
{v} = helped({v})
--
{v} = helped({v}) + helped(1, q=len({{1}}))
====
import functools


@functools.cache
def cached(p):
    return p


KEPT = 1
--
{v} = {v} + KEPT
--
{v} = cached({v})
====
for i in range(3):
    LAST = i
    ODD = {{i}}
--
{v} = {v} + LAST
{v} = {v} + i
--
{v} = {v} + len(ODD)
====
if len({{1}}) > 0:
    MODE = 1
else:
    MODE = 2
--
{v} = {v} + 1
--
{v} = {v} + MODE
====
p, q = 1, len({{1}})
r = s = {{2}}
--
{v} = {v} + 1
--
{v} = {v} + q
{v} = {v} + len(s)
====
try:
    import scipy_of_old
except ImportError:
    scipy_of_old = None
--
{v} = {v} + 1
--
{v} = {v} + (scipy_of_old is None)
====
global_ = np.unique([1, 2])
del global_
TAKEN = 4
--
{v} = {v} + TAKEN
--
{v} = {v} + np.unique([1])[0]
"""
"""Entries separated by `====`: lines of the module, then after `--` statements that use them, one per row (`\n` for a new line).
`_UNREAD`: lines that fleet cannot read, statements that it accepts beside them, and statements that it must refuse with the error
of the lines.
"""


def _entries(text: str) -> list[list[str]]:
    return [entry.split("\n--\n") for entry in text.strip("\n").split("\n====\n")]


def _rows(text: str) -> list[str]:
    return [row.replace("\\n", "\n") for row in text.split("\n")]


def surroundings(h: Hand, v: str, part: KnownExpression) -> tuple[str, list[str], bool]:
    """Return lines of the module, lines of the function that use them, and whether fleet must refuse the latter."""
    names = {"v": v, "n": h.number(part), "k": str(h.integer(0, 5))}
    if h.chance(0.7):
        head, bodies = h.one(_entries(_READ))
        refused = False
    else:
        head, taken, unread = h.one(_entries(_UNREAD))
        refused = h.chance(0.7)
        bodies = unread if refused else taken
    return head.format(**names), h.one(_rows(bodies)).format(**names).split("\n"), refused
