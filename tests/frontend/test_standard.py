"""Python's library and NumPy's functions around arrays: what CPython prints, by the VM and by the interpreter."""

from __future__ import annotations

from pathlib import Path

import pytest
from helpers_corpus import Program, by_python, by_vm

from fleet.errors import ModelError, SourceError
from fleet.frontend.interpreter import run

LINES = {
    "random": """
import random
random.seed(3)
xs = list(range(6))
random.shuffle(xs)
print(xs, random.random(), random.randint(1, 6), random.choice('abc'), random.sample(xs, 2), random.choices(xs, k=3))
""",
    "tqdm": """
from tqdm import tqdm, trange
from tqdm.auto import tqdm as bars
total = 0
for i in tqdm(range(4), desc='fit', leave=False):
    total += i
bar = trange(2, 5)
for i in bar:
    bar.set_description(f'step {i}')
    bar.set_postfix(loss=i / 2, total=total)
    total += i
with tqdm(total=2) as steps:
    for k in range(2):
        total += k
        steps.update(1)
        tqdm.write(f'at {k}')
for i, v in enumerate(bars([5, 6])):
    total += i * v
for a, b in zip(tqdm('xy'), bars(iterable=[1, 2])):
    print(a, b)
x = np.ones(3)
for _ in trange(9):
    x = x * 0.5 + 1
print(total, x)
""",
    "re": r"""
import re, string
print(re.findall(r"[a-z']+", "it's me"))
print(re.sub(r'\s+', ' ', 'a   b'), re.split(r',\s*', 'a, b'))
print(string.ascii_lowercase[:3])
""",
    "copy": """
import copy
a = {'w': np.ones(2), 'l': [1, [2, 3]]}
b = copy.deepcopy(a)
b['w'][0] = 5
b['l'][1][0] = 9
c = copy.copy(a)
c['w'][1] = 7
print(a, b, c)
""",
    "testing": """
x = np.arange(200000.0)[:3]
np.testing.assert_allclose(x, [0, 1, 2 + 1e-9])
np.testing.assert_array_equal(x, x)
np.testing.assert_array_equal([np.nan, 1], [np.nan, 1])
np.testing.assert_almost_equal(0.1 + 0.2, 0.3)
np.testing.assert_array_almost_equal(x, x + 1e-8)
print('ok')
""",
    "texts": r"""
import io
print(np.array2string(np.array([1.23456, 2.0]), precision=2, separator=', '), np.array_str(np.arange(3)))
print(np.array_repr(np.arange(3.0)), np.binary_repr(5, width=8), np.base_repr(255, 16), np.fromstring('1 2', sep=' '))
print(np.genfromtxt(io.StringIO('a,b\n1,2\n3,\n'), delimiter=',', skip_header=1), np.loadtxt(['1 2', '3 4']))
print(np.fromiter((x * x for x in range(5)), dtype=float), np.fromiter(range(3), int))
""",
    "iteration": """
for i, v in np.ndenumerate(np.array([[1, 2], [3, 4]])):
    print(i, v)
print([i for i in np.ndindex(2, 2)])
""",
    "draws": """
rng = np.random.default_rng(1)
print(rng.normal([0, 10], [1, 2]), rng.normal((0, 5), 0.1, (3, 2)), rng.poisson([1.5, 9]))
print(rng.multivariate_normal([0, 1], [[1, 0.3], [0.3, 0.5]], 3), rng.multivariate_normal(np.zeros(2), np.eye(2)))
print(rng.dirichlet([1, 2, 3]), rng.multinomial(10, [0.2, 0.3, 0.5], size=2), rng.uniform(np.zeros(2), 2), rng.random())
np.random.seed(5)
print(np.random.multivariate_normal([0, 0], np.eye(2), 2), np.random.normal([1, 2]), np.random.rand(2))
""",
    "contexts": r"""
import warnings
from contextlib import contextmanager, nullcontext, suppress

import numpy as np


@contextmanager
def section(name):
    print("begin", name)
    try:
        yield name.upper()
    except ValueError as e:
        print("caught", e)
    finally:
        print("end", name)


class Guard:
    def __init__(self, swallow):
        self.swallow = swallow

    def __enter__(self):
        return self

    def __exit__(self, kind, value, tb):
        print("exit", kind is None, value)
        return self.swallow


def f(x):
    with section("f"):
        return x + 1
    return 0


with section("a") as a, section("b"):
    print(a)
try:
    with section("c"):
        raise ValueError("inside")
    print("after c")
    with Guard(True):
        raise KeyError("k")
    print("after guard")
    with Guard(False):
        raise KeyError("z")
except KeyError as e:
    print("key", e)
with suppress(ZeroDivisionError, KeyError):
    print(1 // 0)
    print("not reached")
with nullcontext(3) as n, np.errstate(divide="ignore"):
    print(n, np.array([1.0]) / 0)
with warnings.catch_warnings():
    warnings.simplefilter("ignore")
    print(np.log(np.array([-1.0])))
print(f(np.arange(2)))
""",
    "enumerations, match and operator": r"""
from dataclasses import dataclass
from enum import Enum, auto

import numpy as np


class Color(Enum):
    RED = 1
    GREEN = 2
    CRIMSON = 1

    def mixed(self, other):
        return f"{self.name}+{other.name}"

    @property
    def low(self):
        return self.name.lower()


class Planet(Enum):
    EARTH = (5.97, 6.37)
    MARS = (0.642, 3.39)

    def __init__(self, mass, radius):
        self.mass = mass
        self.radius = radius

    def density(self):
        return self.mass / self.radius**3


class Mode(Enum):
    A = auto()
    B = auto()
    C = "see"


@dataclass
class Point:
    x: float
    y: float


def where(p):
    match p:
        case Point(x=0, y=0):
            return "origin"
        case Point(x, 0):
            return f"on x at {x}"
        case Point():
            return "somewhere"
        case [a, b, *rest]:
            return f"list {a} {b} {rest}"
        case {"kind": "c", **others}:
            return f"dict {others}"
        case int() | float() if p > 10:
            return "big"
        case int(n):
            return f"int {n}"
        case None:
            return "none"
        case "a" | "b" as t:
            return "text " + t
        case Color.RED:
            return "red"
        case _:
            return "other"


print(Color.RED, repr(Color.GREEN), [Color.RED], Color(2), Color["GREEN"], Color.CRIMSON is Color.RED)
print(list(Color), len(Color), {c: c.value for c in Color}, Color.RED.mixed(Color.GREEN), Color.GREEN.low)
print([round(p.density(), 4) for p in Planet], Planet.MARS.radius, Mode.B.value, Mode.C.value, Color.RED == Color.GREEN)
for v in [Point(0, 0), Point(2, 0), Point(1, 1), [1, 2, 3, 4], (1, 2), {"kind": "c", "v": 1}, 20, 3, None, "b", Color.RED, "zz"]:
    print(where(v))
print({(Color.RED, 1): 2, "x": Mode.A})
import operator
from functools import reduce
from operator import attrgetter, itemgetter

print(reduce(operator.mul, [2, 3, 4]), operator.lt(1, 2), operator.add("a", "b"), operator.matmul(np.eye(2), np.ones(2)))
d = {"x": 3, "y": 1}
print(sorted(d.items(), key=itemgetter(1)), itemgetter(0, 2)([5, 6, 7]), max([Point(1, 5), Point(2, 3)], key=attrgetter("y")))
""",
    "masked arrays": r"""
import numpy as np
import numpy.ma as ma

a = ma.array([1.0, 2.0, 3.0, 4.0], mask=[0, 0, 1, 0])
print(a, repr(a), a.sum(), a.mean(), a.mask, a.data, a.count(), a[1], a[2], a[2] is ma.masked)
b = a * 2 + 1
print(b, (b > 4), np.sqrt(a), -a, a.filled(0), a.compressed().tolist(), np.mean(a), ma.median(a))
a[0] = ma.masked
print(a, a.max(), a.fill_value, len(a), [float(v) for v in a.compressed()])
c = ma.masked_where(np.arange(4) > 2, np.arange(4))
print(c, c.sum(), c.dtype, c.shape, np.ma.masked_invalid([1.0, np.nan, 3.0]).mean(), np.ma.masked_less(np.arange(4), 2))
m = np.arange(6.0).reshape(2, 3)
d = ma.masked_equal(m, 4)
print(d.mean(axis=0), d.mean(axis=1), ma.getmaskarray(d), d.std())
for v in c:
    print(v, end=" ")
print()
""",
    "polynomials": r"""
import numpy as np

p = np.poly1d([0, 1, -3, 2])
print(p(5), p.roots, p.order, p.coeffs, p.c, p(np.arange(3)))
q = p.deriv()
print(q.coeffs, q(0.5), (p * q).coeffs, (p + 1).c, (2 * p).c, (-p).c, p.integ().c)
x = np.linspace(-1, 1, 12)
f = np.poly1d(np.polyfit(x, x**2 + 1, 2))
print(f(2.0).round(6), np.round(f.coeffs, 6) + 0.0, f.deriv(1)(1.0).round(4))
print(q)
print(repr(p), [q])
""",
    "elements": """
a = np.arange(6)
np.place(a, a > 2, [44, 55])
x = np.arange(6).reshape(2, 3)
print(a, x.item(4), x.item(1, 2), x.item((0, 1)))
print(np.trace(np.arange(8).reshape(2, 2, 2)), np.vectorize(lambda a, b: a - b if a > b else a)([1, 3], 2))
print(np.meshgrid([1, 2], [3]), np.linalg.slogdet(np.eye(2)), np.linalg.eigh(np.eye(2)).eigenvalues, hasattr(np, 'in1d'))
""",
    "return of an endless loop": """
def f(x):
    while True:
        x = x * 1.5
        if x.sum() > 100:
            return x
print(f(np.arange(200000.0)[1:4]))
""",
    "a number that becomes NumPy's": """
def g(x, c):
    s = t = 0.0
    for v in x:
        t, s = s, v + c * s - t
    return s, t
print(g(np.sin(np.arange(70000.0))[:3000], 0.3))
""",
    "typed dicts": """
from typing import TypedDict
class P(TypedDict):
    x: int
    y: float
class Q(P, total=False):
    z: str
p: P = {"x": 1, "y": 2.0}
q = Q(x=1, y=2.0, z="s")
print(p, q, q["z"], q == {"x": 1, "y": 2.0, "z": "s"})
""",
    "math of what gives numbers": """
import math
from collections import Counter
c = Counter("abca")
print(math.prod(c.values()), math.fsum(v / 2 for v in c.values()), math.prod([1, 2]), math.prod(x for x in (2, 3)))
""",
    "members that an enumeration lacks": """
import enum
class E(enum.Enum):
    A = "a"
    B = 2
for v in ("a", 2, "q"):
    try:
        print(E(v))
    except ValueError as e:
        print("no", e)
for v in ("A", "C"):
    try:
        print(E[v])
    except KeyError as e:
        print("no", e)
""",
    "fields of dataclasses": """
from dataclasses import astuple, dataclass, field, fields, is_dataclass
@dataclass
class D:
    a: int
    b: list = field(default_factory=list, repr=False)
    w: float = 1.0
d = D(1, [D(2), (3, D(4))])
print([f.name for f in fields(D)], [f.repr for f in fields(d)], astuple(d), is_dataclass(d), is_dataclass(D), is_dataclass(3))
""",
    "objects without __init__": """
class Copyable:
    def __init__(self, x):
        print("init")
        self.x = x
    def copy(self):
        new = self.__class__.__new__(self.__class__)
        new.x = self.x.copy()
        return new
    @classmethod
    def raw(cls, v):
        o = object.__new__(cls)
        o.x = v
        return o
    @classmethod
    def alt(cls, v):
        o = cls.__new__(cls)
        o.__dict__.update(x=v)
        return o
a = Copyable(np.arange(3.0))
b = a.copy(); b.x[0] = 9
print(a.x, b.x, Copyable.raw(3).x, type(Copyable.alt(4)).__name__, Copyable.alt(5).x)
""",
    "keys of a comparison": """
from functools import cmp_to_key
print(sorted([3, 1, 2], key=cmp_to_key(lambda x, y: y - x)), max("b", "a", "c", key=cmp_to_key(lambda x, y: (x < y) - (x > y))))
nums = sorted(map(str, [3, 30, 34, 5, 9]), key=cmp_to_key(lambda x, y: 1 if x + y < y + x else -1))
print("".join(nums))
""",
    "order of nested lists": """
from dataclasses import dataclass, field
@dataclass(order=True)
class Item:
    p: float
    t: list = field(default_factory=list)
a, b = Item(2.0, [1, 2]), Item(1.0)
print(b < a, sorted([a, b])[0], max(a, b), Item(1.0, [1]) <= Item(1.0, [0, 5]))
print((1, [2]) < (1, [3]), [1, [2]] > [1, [0, 5]], (2.0, [1]) < (1.0, []), ((1, (2,)), 3) < ((1, (2, 0)),))
import sys
print(sys.version_info >= (3, 8), sys.version_info[:1] == (3,))
""",
    "powers of numbers of the run": """
x = np.arange(200000.0) * 0.37
v, n = float(x[3]), int(np.argmax(x[:7]))
lo, hi = 0.0, 10.0
for _ in range(40):
    mid = (lo + hi) / 2
    if mid ** 3 + mid > x[11]:
        hi = mid
    else:
        lo = mid
print(v ** 2, v ** 3, v ** -1, (-v) ** 3, v ** 0, n ** 2, n ** 3, mid, v ** 2.5)
""",
    "complex keys": """
seen, knots = {0j}, [0j] * 2
walls = {x + 1j * y: (x * y) % 2 for x in range(2) for y in range(2)}
for step in (1, 1j, -1, 1 + 1j):
    knots[0] += step
    seen.add(knots[0])
print(len(seen), 1j in seen, 2 in seen, walls[1 + 1j], walls.get(5j, 7), list(walls), {1: "a"}[1 + 0j], (2j, 3) in {(2j, 3)})
""",
    "bytes": """
print(b"".join([b"a", bytes([98])]), b", ".join(bytes([65 + i]) for i in range(3)))
print(b" x ".strip(), b"a,b".split(b","), b"aXb".replace(b"X", b"--").upper())
print(bytes([0xff, 65]).decode("utf-8", errors="replace"))
print("é€".encode("ascii", "ignore"), bytes([0xc3]).decode(errors="ignore"), "é".encode(encoding="latin-1"))
""",
    "indices of a diagonal": """
K = np.arange(9.0).reshape(3, 3)
K[np.diag_indices_from(K)] += 10
print(K)
""",
    "errstate as a decorator": """
@np.errstate(divide="ignore", invalid="ignore")
def safe(x):
    return np.where(x == 0, 0, 1 / x)
class S:
    @np.errstate(all="ignore")
    def f(self, x): return np.log(x)
print(safe(np.array([0.0, 2.0])), S().f(np.array([0.0, 1.0])))
""",
    "a set in a list that is sorted": """
words = "the cat sat on the mat".split()
print(sorted(list(set(words))), sorted(tuple({w[0] for w in words}), reverse=True), len(list(set(words))), sorted(list("ba")))
""",
    "identity": """
class Node:
    def __init__(self, *parents): self.parents = parents
a = Node(); b = Node(a, a); c = Node(b, a)
seen, order = set(), []
def visit(v):
    if id(v) not in seen:
        seen.add(id(v))
        for p in v.parents: visit(p)
        order.append(v)
visit(c)
names = {id(a): "a", id(b): "b", id(c): "c"}
print([names[id(v)] for v in order], id(a) == id(order[0]), id(a) == id(b), id([]) != id(a))
""",
    "members as places": """
from enum import IntEnum
class A(IntEnum):
    UP = 1
    DOWN = 2
x = np.arange(12).reshape(4, 3)
x[A.UP, A.DOWN] += 100
x[0, A.UP:] = 7
print(x, x[A.DOWN], x[:, A.UP], [10, 20, 30][A.UP])
""",
    "a NumPy scalar beside an object": """
class T:
    def __init__(self, v): self.v = v
    def __mul__(self, o): return T(self.v * (o.v if isinstance(o, T) else o))
    def __rmul__(self, o): return T(type(o).__name__)
class D(T):
    __array_priority__ = 1000
    def __rmul__(self, o): return T(np.asarray(o) * 2)
class N(D):
    __array_ufunc__ = None
print((np.float64(2) * T(3)).v, (np.sqrt(4) * T(1)).v, (np.arange(3) * D(1)).v, (np.arange(2) * N(1)).v, (np.int64(3) * N(1)).v)
""",
    "namespaces": """
import argparse
from types import SimpleNamespace
c = SimpleNamespace(lr=0.1, sizes=[1, 2])
c.name = "x"
print(c, c == SimpleNamespace(lr=0.1, sizes=[1, 2], name="x"), c == SimpleNamespace(lr=0.1), vars(c)["lr"])
p = argparse.ArgumentParser()
p.add_argument("--n", type=int, default=3)
print(p.parse_args(), argparse.Namespace(a=1), "n" in p.parse_args(["--n", "4"]), p.parse_args([]) == argparse.Namespace(n=3))
""",
    "operators of containers by name": """
counts, table = [3, 9, 4], {"a": 1, "b": 5}
print(max(range(3), key=counts.__getitem__), max(table, key=table.__getitem__), list(map(table.__contains__, "abc")))
print((1, 2).__len__(), "abc".__getitem__(1), sorted("cab", key={"a": 2, "b": 1, "c": 0}.__getitem__))
""",
    "generators end and are thrown at": """
import itertools
def averager():
    total = 0
    while True:
        try:
            x = yield total
        except ValueError as e:
            total = -1 if str(e) == "low" else 0
            continue
        if x is None:
            return total
        total += x
g = averager()
next(g); g.send(4)
print(g.throw(ValueError("low")), g.send(3), g.throw(ValueError))
try:
    g.send(None)
except StopIteration as end:
    print(end.value, end.args)
def of_two():
    yield 1
    return "done"
h = of_two()
print(h.__next__(), itertools.chain([5], [6]).__next__())
try:
    next(h)
except StopIteration as end:
    print(end.value)
""",
    "patterns of attributes": """
class P:
    __match_args__ = ("x", "y")
    def __init__(self, x, y): self.x, self.y = x, y
def what(v):
    match v:
        case P(0, y): return f"on the axis at {y}"
        case P(x, y=1): return f"{x} above"
        case np.ndarray(shape=(n,)): return f"vector {n}"
        case np.ndarray(ndim=d): return f"rank {d}"
        case _: return "else"
print(what(P(0, 5)), what(P(2, 1)), what(P(2, 2)), what(np.zeros(3)), what(np.zeros((2, 2))))
try:
    raise SyntaxError("no such word")
except SyntaxError as e:
    print(e.msg, e)
""",
    "ufuncs at places": """
x = np.array([1.0, 2, 3, 4])
np.negative.at(x, [0, 1, 0]); print(x)
np.divide.at(x, [1, 1, 2], [2.0, 4.0, 3.0]); print(x)
m = np.zeros((3, 2), bool); np.logical_or.at(m, [0, 2, 0], [[True, False], [False, False], [False, True]]); print(m)
b = np.zeros(4, int); np.bitwise_or.at(b, [1, 1, 3], [1, 4, 2]); print(b)
p = np.full(3, 2.0, np.float32); np.power.at(p, [0, 0, 2], 3); print(p, p.dtype)
print(np.add.identity, np.multiply.identity, np.maximum.identity, np.add.nin, np.divmod.nout, np.add.__name__)
""",
    "parts of dtypes": """
t = np.dtype([("pos", np.float64, 2), ("mass", "f4")])
print(t["pos"].shape, t["mass"], t.fields["mass"][1], t["pos"].base, t.names, np.dtype("i4").fields, np.dtype("i4").subdtype)
r = np.rec.array(np.array([("a", 1), ("b", 2)], dtype=[("name", "U3"), ("n", "i4")]))
print(r.n + 1, r.name, r[1].n)
""",
    "templates and options behind a text": """
from string import Template
print(Template("$who is $n").substitute(who="x", n=1), Template("$a $b").safe_substitute(a=1))
print(repr(np.arange(3)), str(np.array([0.5])))
with np.printoptions(precision=2):
    print(np.array([0.12345]))
""",
}


def program(folder: Path, text: str) -> Program:
    path = folder / "line.py"
    path.write_text(f"import numpy as np\n\n{text}\n")
    return Program(path, None, {}, "", "")


@pytest.mark.parametrize("text", LINES.values(), ids=LINES.keys())
def test_what_python_prints(tmp_path: Path, text: str) -> None:
    given = program(tmp_path, text)
    _, expected = by_python(given)
    assert by_vm(given)[1] == expected


@pytest.mark.parametrize("name", ["random", "re", "copy", "testing", "texts", "iteration"])
def test_the_interpreter_prints_it_too(tmp_path: Path, name: str) -> None:
    given = program(tmp_path, LINES[name])
    assert run(str(given.path), {}).printed == by_python(given)[1]


_LIST, _DICT = "x = [w for w in {'a', 'b'}]\n", "x = {w: 1 for w in {'a', 'b'}}\n"
SHUFFLED = [
    *("print(list(set('ab')))", "for w in {'a', 'b'}: print(w)", "print(*{'a', 'b'})", "a, b = {'x', 'y'}\nprint(a)"),
    *("print(sorted({'aa', 'bb'}, key=len))", "print(max({'aa', 'bb'}, key=len))", "print(''.join({'a', 'b'}))"),
    *("print(sum(len(w) / 3 for w in {'a', 'b'}))", "print(next(w for w in {'a', 'b'}))", "print(next(map(len, {'a', 'bb'})))"),
    "print(np.array([len(w) for w in {'a', 'bb'}]))",
    *(_LIST + f"print({t})" for t in ("x[0]", "x + ['c']", "x * 2", "x[::-1]", "x == ['a', 'b']", "x.pop()", "x", "x.index('a')")),
    _LIST + "a, b = x\nprint(a)",
    *(_DICT + f"print({t})" for t in ("x", "list(x)", "{**x}", "x | {}", "x.popitem()", "dict(x)", "x.copy()", "[*x.values()]")),
    *(_DICT + t for t in ("for k in x: print(k)", "import copy\nprint(copy.deepcopy(x))", "import json\nprint(json.dumps(x))")),
]
"""What shows the order of a set of strings."""


@pytest.mark.parametrize(
    ("text", "code"),
    [
        ("import random\nprint(random.random())", "F507"),
        ("class A: pass\nprint(id(A()))", "F507"),
        ("class A: pass\nprint(sorted([id(A()), id(A())]))", "F507"),
        ("print(id(3))", "F408"),
        ("x = np.arange(200000.0)\nnp.divide.at(x, (x[:3] * 2).astype(int), 2.0)\nprint(x[:3])", "F404"),
        *((text, "F507") for text in SHUFFLED),
        ("import types\nprint(types.SimpleNamespace(3))", "F208"),
        ("import re\nprint(re.findall(r'(a+)+b', 'aaa'))", "F607"),
        ("np.testing.assert_allclose(np.ones(2), [1, 2])", "F702"),
        ("print(np.loadtxt('data.csv'))", "F703"),
        ("import random\nrandom.seed(1)\nx = np.arange(200000.0).sum()\nprint(random.random() if x > 3 else 0.0)", "F511"),
    ],
)
def test_what_is_refused(tmp_path: Path, text: str, code: str) -> None:
    with pytest.raises(SourceError) as caught:
        by_vm(program(tmp_path, text))
    assert caught.value.code == code


def test_an_assertion_of_the_run_ends_it(tmp_path: Path) -> None:
    text = "x = np.arange(200000.0)\nnp.testing.assert_allclose(x[:2], x[1:3])\nprint('ok')"
    with pytest.raises(ModelError, match="assert_allclose"):
        by_vm(program(tmp_path, text))
