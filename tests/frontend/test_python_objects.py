"""Python's objects: names of classes and functions, exceptions, methods of builtins, and classes that inherit from builtins."""

from __future__ import annotations

import decimal
import re
from pathlib import Path

import pytest
from helpers_corpus import Program, by_python, by_vm

from fleet.errors import SourceError

LINES = {
    "qualified names": """
from dataclasses import dataclass, field
from enum import Enum
from functools import wraps
from typing import NamedTuple
class RRT:
    @dataclass
    class Bounds:
        xmin: float
        xmax: float = 2
        @dataclass
        class Inner:
            of: list = field(default_factory=list)
    class Plain:
        def g(self): return lambda: 0
        @staticmethod
        def h(): pass
    class Pair(NamedTuple):
        a: int
    class Kind(Enum):
        X = 1
        Y = 2
    twice = lambda self: 2
print(RRT.Bounds(1), [RRT.Bounds(1, 3)], RRT.Bounds.__qualname__, RRT.Bounds.Inner([1]), f"{RRT.Bounds(4)!r}")
print(RRT.Plain, RRT.Plain.__name__, RRT.Plain.g.__qualname__, RRT.Plain().g().__qualname__, RRT.Plain.h.__qualname__)
print(RRT.Pair(1), RRT.Pair, RRT.Kind.X, repr(RRT.Kind.Y), RRT.Kind, RRT.Kind.__qualname__, RRT.twice.__qualname__)
def f():
    class C:
        def g(self): pass
    @dataclass(frozen=True)
    class D:
        x: int
    def inner(): pass
    global Outside
    class Outside: pass
    named = [lambda: 0 for _ in range(1)] + list((lambda: 1) for _ in range(1))
    return C, D(3), inner, C.g, named
C, d, inner, g, named = f()
print(C, C.__qualname__, d, inner.__qualname__, g.__qualname__, C().g.__name__, Outside, [n.__qualname__ for n in named])
print(C.__module__, f.__module__, f.__qualname__, type(d), type(ValueError("x")), ZeroDivisionError, [C], {"c": C})
def kept(of):
    @wraps(of)
    def other(): return of()
    return other
@kept
def told(): pass
print(told.__name__, told.__qualname__, kept.__qualname__, Ellipsis, [...], NotImplemented)
""",
    "what Python raises for types": """
class Q:
    def __mul__(self, o): return 1 if isinstance(o, Q) else NotImplemented
    def __lt__(self, o): return NotImplemented
    def f(self): pass
    @property
    def p(self): return 1
class Plain: pass
class Slotted:
    __slots__ = ("x",)
class Named(list): pass
class Places:
    def __index__(self): return 1
class ByPlace:
    def __getitem__(self, i):
        if i > 2: raise IndexError
        return i * i
def h(a): return a
def gen(): yield 1
five, q, text, none, xs, d, t = 5, Q(), "abc", None, [1, 2], {"a": 1}, (1, 2)
print(list(ByPlace()), 4 in ByPlace(), 5 in ByPlace(), xs[Places()], max(ByPlace()), Q() * Q())
attempts = [
    lambda: q * 3, lambda: 3 * q, lambda: 1 + text, lambda: text + 1, lambda: text + q, lambda: Plain() + 1, lambda: xs + 1,
    lambda: xs + t, lambda: t + xs, lambda: text * 1.5, lambda: text * text, lambda: none + 1, lambda: d + d, lambda: 1.5 & 2,
    lambda: text - text, lambda: xs ** 2, lambda: q @ q, lambda: q << 1, lambda: h + 1, lambda: len + 1, lambda: b"a" + "a",
    lambda: Named([1]) + 1, lambda: {1} + {2}, lambda: text % 3, lambda: "%d" % text, lambda: "%d %d" % (1,),
    lambda: range(3) + [1],
    lambda: -text, lambda: -q, lambda: ~1.5, lambda: +none, lambda: ~xs,
    lambda: 1 < text, lambda: q < 1, lambda: Plain() < Plain(), lambda: none < 1, lambda: xs < t, lambda: d < d,
    lambda: [1] < ["a"],
    lambda: (1, 2) < (1, "a"), lambda: sorted([1, "a"]), lambda: max(1, "a"), lambda: 1j < 2,
    lambda: len(five), lambda: len(q), lambda: len(none), lambda: len(gen()), lambda: len(), lambda: len(1, 2), lambda: len(q.f),
    lambda: five[0], lambda: q[0], lambda: none[five], lambda: h[0],
    lambda: set(xs)[0], lambda: xs["a"], lambda: xs[1.0], lambda: text["a"],
    lambda: t[none], lambda: xs[(0, 1)], lambda: gen()[0],
    lambda: five(), lambda: q(), lambda: text(), lambda: none(), lambda: xs(1), lambda: t(3),
    lambda: [v for v in 5], lambda: list(q), lambda: list(none), lambda: sum(3), lambda: dict([1]), lambda: next(xs),
    lambda: reversed(gen()), lambda: 3 in 5, lambda: 3 in q, lambda: 3 in text, lambda: tuple(h), lambda: [*five],
    lambda: ",".join(5), lambda: reversed(five), lambda: list(zip(5)), lambda: set(q),
    lambda: 5 .nope, lambda: text.nope, lambda: xs.nope, lambda: d.nope, lambda: none.nope, lambda: q.nope, lambda: h.nope,
    lambda: Q.nope, lambda: t.nope, lambda: q.f.nope, lambda: (1.5).nope, lambda: getattr(q, "nope"), lambda: getattr(5, "nope"),
    lambda: setattr(q, "p", 2), lambda: setattr(Slotted(), "y", 1), lambda: setattr(5, "y", 1), lambda: {[]: 1}, lambda: {xs},
    lambda: {}[d], lambda: hash([]), lambda: {({},): 1}, lambda: ",".join([1]), lambda: ",".join(["a", none]), lambda: ord("ab"),
    lambda: ord(3), lambda: xs.append(), lambda: xs.append(1, 2), lambda: d.get(), lambda: text.split(1), lambda: text.upper(1),
    lambda: abs(), lambda: isinstance(1), lambda: format(1, "q"), lambda: format(q, "d"), lambda: "{} {}".format(1),
    lambda: "{a}".format(),
]
for n, attempt in enumerate(attempts):
    try:
        print(n, "gives", attempt())
    except (TypeError, AttributeError, ValueError, LookupError) as e:
        print(n, type(e).__name__, e)
def changed(what):
    a, x = 1, [1]
    match what:
        case 0: a += "b"
        case 1: x += 5
        case 2: x -= [1]
        case 3: a, b = 5
        case 4: a, b = 1, 2, 3
        case 5: a, b, *c = [1]
        case 6: a, b = [1]
        case 7: (1, 2)[0] = 3
        case 8: "abc"[0] = "d"
        case 9: del (1, 2)[0]
        case 10: Plain()[0] = 1
        case 11: x["a"] = 1
        case 12: del x[1.5]
        case 13: del Plain().y
        case 14: raise 5
        case 15: raise "text"
        case 16:
            with Plain(): pass
        case 17: a **= "x"
        case 18:
            for _ in Plain(): pass
        case 19: five.x = 1
        case 20: none.x = 1
        case 21: x[0:1] = 5
for n in range(22):
    try:
        changed(n)
        print(n, "changes")
    except Exception as e:
        print(n, repr(e), isinstance(e, ArithmeticError))
""",
    "arguments that do not fit": """
from dataclasses import dataclass
from typing import NamedTuple
class A:
    def m(self, x): pass
    def n(self): pass
    @staticmethod
    def s(x, y=1): pass
class NoInit: pass
class Init:
    def __init__(self, a, *, b): pass
@dataclass
class D:
    x: int
    y: int = 1
class P(NamedTuple):
    a: int
    b: int = 2
def f(): pass
def g(a): pass
def k(a, b=1, *, c, d=2): pass
def many(a, b, c, *rest): pass
def outer():
    def inner(z): pass
    inner()
attempts = [
    lambda: f(1), lambda: f(1, 2), lambda: f(x=1), lambda: g(), lambda: g(1, 2), lambda: g(1, a=2), lambda: g(1, b=2), lambda: k(),
    lambda: k(1), lambda: k(1, 2, 3), lambda: k(1, 2, 3, c=1), lambda: k(1, 2, 3, c=1, d=2), lambda: k(1, 2, c=1, e=4),
    lambda: many(),
    lambda: many(1), lambda: many(1, 2), lambda: A().m(), lambda: A().m(1, 2), lambda: A().n(1), lambda: A.n(), lambda: A.s(),
    lambda: A.s(1, 2, 3), lambda: NoInit(1), lambda: Init(), lambda: Init(1), lambda: Init(1, 2), lambda: D(), lambda: D(1, 2, 3),
    lambda: D(z=1), lambda: D(1, x=2), lambda: P(), lambda: P(1, 2, 3), lambda: P(c=1), outer,
    lambda: (lambda u: u)(), lambda: ValueError(a=1),
]
for n, attempt in enumerate(attempts):
    try:
        print(n, "gives", attempt())
    except TypeError as e:
        print(n, e)
""",
    "frozen": """
from dataclasses import dataclass, FrozenInstanceError
import dataclasses
@dataclass(frozen=True)
class C:
    x: int = 1
    def move(self): self.x += 1
c = C()
try:
    c.x = 2
except FrozenInstanceError as e:
    print("frozen", e, repr(e), isinstance(e, AttributeError))
for change in (lambda: setattr(c, "y", 1), c.move):
    try:
        change()
    except Exception as e:
        print(type(e).__name__, e, type(e))
try:
    del c.x
except AttributeError as e:
    print(e)
try:
    c.x = 3
except dataclasses.FrozenInstanceError:
    print(c, dataclasses.FrozenInstanceError)
object.__setattr__(c, "x", 5)
print(c)
""",
    "fields of formats": """
class P:
    def __init__(self, k=1.5): self.k = k
    def __repr__(self): return "{self.__class__.__name__}(k={self.k!r})".format(self=self)
class Q(P): pass
p = P(); p.a = P(2); p.a.b = [1, (2, 3)]; p.d = {"x": P(7), 3: "three"}
print(p, Q(), "{0.a.b} {0.a.b[1][0]} {0.d[x].k:>6.2f} {0.d[3]}|{1.k}".format(p, p), "{k.a!r:>12}".format(k=p))
print("{0[a]}/{0[b][c]}".format({"a": 1, "b": {"c": 2}}), "{[1]}{[0]}".format("xy", [3]), "{x.real}".format(x=2.5))
print("{.k} {.a.b}".format(p, p))
for text in ("{0.nope}", "{0.a.b[9]}", "{0.d[y]}", "{0[0]}"):
    try:
        print(text.format(p))
    except (AttributeError, LookupError, TypeError) as e:
        print(type(e).__name__, e)
""",
    "attributes that are items": """
class DotDict(dict):
    __getattr__ = dict.__getitem__
    __setattr__ = dict.__setitem__
    __delattr__ = dict.__delitem__
class Mild(dict):
    __getattr__ = dict.get
    __setattr__ = dict.__setitem__
class AttrDict(dict):
    def __init__(self, *args, **kwargs):
        super().__init__(*args, **kwargs)
        self.__dict__ = self
d = DotDict(a=1)
d.b = 2
d["c"] = np.ones(2)
d.a += 5
print(d.a + d.b, d.c, d, "b" in d, len(d), sorted(d))
del d.b
try:
    d.b
except KeyError as e:
    print("no", e)
try:
    del d.zz
except KeyError as e:
    print("no", e)
m = Mild(a=1)
m.b = 2
print(m.a + m.b, m.zz, m, hasattr(m, "nope"))
a = AttrDict({"x": 1}, y=2)
a.z = 3
a["w"] = 4
print(a.x + a["y"] + a["z"] + a.w, a, len(a), list(a.items()), a.get("q"), a == {"x": 1, "y": 2, "z": 3, "w": 4})
del a.x
del a["y"]
a.update(v=9)
print(a, a.v, hasattr(a, "x"), hasattr(a, "w"), vars(a) == a, a.__dict__ is a)
try:
    a.x
except AttributeError as e:
    print(e)
e = {"k": 1}
dict.__setitem__(e, "l", 2)
print(dict.__getitem__(e, "l"), dict.get(e, "zz", 7), list.__len__([1, 2]), dict.pop(d, "a"), d.keys())
""",
    "setting of attributes": """
class Watched:
    def __init__(self):
        self.log = []
        self.x = 1
    def __setattr__(self, name, value):
        if name != "log":
            self.log.append((name, value))
        super().__setattr__(name, value)
    def __delattr__(self, name):
        self.log.append(name)
        object.__delattr__(self, name)
w = Watched()
w.x += 4
setattr(w, "y", 2)
del w.y
print(w.x, w.log, hasattr(w, "y"))
class Fixed:
    def __init__(self, v): self.__dict__["v"] = v
    def __setattr__(self, name, value): raise AttributeError(f"{name} is fixed")
f = Fixed(3)
try:
    f.v = 4
except AttributeError as e:
    print(e, f.v)
class Shared:
    _all = {}
    def __init__(self): self.__dict__ = self._all
s, t = Shared(), Shared()
s.a = 5
print(t.a, t.__dict__, Shared._all)
class Bag:
    def __init__(self, **kw): self.__dict__.update(kw)
    def __getattr__(self, name): return name.upper()
b = Bag(a=1)
b.__dict__ = {"q": 2}
print(b.q, b.a)
""",
    "abstract classes": """
import numbers
from dataclasses import dataclass
from fractions import Fraction
from decimal import Decimal
from collections import OrderedDict, deque, Counter, abc
from collections.abc import Callable, Collection, Container, Hashable, Iterable, Iterator, Mapping, MutableMapping
from collections.abc import MutableSequence, MutableSet, Reversible, Sequence, Set, Sized
import typing
class Plain: pass
class Sizes:
    def __len__(self): return 2
    def __eq__(self, other): return True
@dataclass
class D:
    x: int = 1
class Called:
    def __call__(self): return 1
def gen(): yield 1
values = [3, 2.5, True, 1j, np.float32(1), np.int64(2), np.bool_(1), np.complex64(1), np.ones(2), Fraction(1, 2), Decimal(1),
          "a", b"a", None, [], (), {}, set(), frozenset(), range(3), deque(), OrderedDict(), Counter(), {}.items(), {}.keys(),
          zip([]), map(len, []), gen(), (i for i in []), iter([1]), len, print, gen, Plain, Plain(), Sizes(), D(), Called(),
          Called().__call__,
          slice(3), int, ValueError("x")]
kinds = [numbers.Number, numbers.Complex, numbers.Real, numbers.Rational, numbers.Integral, Callable, Collection, Container,
         Hashable,
         Iterable, Iterator, Mapping, MutableMapping, MutableSequence, MutableSet, Reversible, Sequence, Set, Sized,
         typing.Sequence]
for n, v in enumerate(values):
    print(n, "".join("01"[isinstance(v, k)] for k in kinds))
print(isinstance(3, (Sequence, numbers.Real)), isinstance("a", (list, abc.Sequence)), issubclass(int, numbers.Integral))
print(issubclass(bool, int), issubclass(D, Hashable), issubclass(Sizes, Sized), issubclass(Plain, Sized))
print(issubclass(list, (Mapping, Sequence)))
""",
    "classes that inherit from abstract ones": """
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, MutableMapping, MutableSequence, MutableSet
from collections.abc import Sequence, Set
from abc import ABC, abstractmethod
import typing
class M(Sequence):
    def __init__(self, a): self.a = a
    def __len__(self): return len(self.a)
    def __getitem__(self, i): return self.a[i]
m = M([1, 2, 3, 2])
print(list(reversed(m)), 2 in m, 7 in m, m.index(3), m.count(2), isinstance(m, Sequence), isinstance(m, Collection), list(m))
for a, b in zip(m, reversed(m)): print(a, b)
try:
    m.index(9)
except ValueError as e:
    print(repr(e))
class L(MutableSequence):
    def __init__(self, *a): self.a = list(a)
    def __len__(self): return len(self.a)
    def __getitem__(self, i): return self.a[i]
    def __setitem__(self, i, v): self.a[i] = v
    def __delitem__(self, i): del self.a[i]
    def insert(self, i, v): self.a.insert(i, v)
l = L(3, 1)
l.append(4); l.extend([5, 6]); l += (7,); l.reverse(); l.remove(1)
print(l.a, l.pop(), l.pop(0), l.a, isinstance(l, Sequence), len(l)); l.clear(); print(l.a)
class Low(MutableMapping):
    def __init__(self, **kw):
        self.d = {}
        self.update(kw)
    def __getitem__(self, k): return self.d[k.lower()]
    def __setitem__(self, k, v): self.d[k.lower()] = v
    def __delitem__(self, k): del self.d[k.lower()]
    def __iter__(self): return iter(self.d)
    def __len__(self): return len(self.d)
    def __repr__(self): return f"Low({self.d})"
w = Low(A=1, b=2)
w["C"] = 3
print(w["a"], "B" in w, "z" in w, w.get("q"), w.get("q", 5), list(w), list(w.keys()), list(w.values()), list(w.items()), len(w))
print(w.keys())
print(w.pop("A"), w.pop("zz", None), w.setdefault("E", 9), w == {"b": 2, "c": 3, "e": 9}, dict(w), {**w})
print(("b", 2) in w.items(), 3 in w.values())
try:
    w.pop("nope")
except KeyError as e:
    print("none", e)
print(w.popitem(), sorted(w.keys() & ["c", "x"]), isinstance(w, Mapping), isinstance(w, dict)); w.clear(); print(w)
class Bits(MutableSet):
    def __init__(self, it=()): self.n = sum(1 << i for i in set(it))
    def __contains__(self, i): return bool(self.n >> i & 1)
    def __iter__(self): return (i for i in range(64) if self.n >> i & 1)
    def __len__(self): return bin(self.n).count("1")
    def add(self, i): self.n |= 1 << i
    def discard(self, i): self.n &= ~(1 << i)
a, b = Bits([1, 3, 5]), Bits({3, 4})
print(list(a & b), list(a | b), list(a - b), list(a ^ b), a <= b, Bits([3]) < a, a == Bits([5, 3, 1]), a.isdisjoint(b))
print(a == {1, 3, 5})
a |= b; a.remove(1); print(list(a), a.pop(), len(a))
class Count(Iterator):
    def __init__(self, n): self.n = n
    def __next__(self):
        self.n -= 1
        if self.n < 0: raise StopIteration
        return self.n
print(list(Count(3)), sum(Count(4)), next(Count(2)), isinstance(Count(1), Iterable))
class Half(typing.Sequence[int]):
    def __getitem__(self, i): return 1
try:
    Half()
except TypeError as e:
    print(e)
class Base(ABC):
    @abstractmethod
    def f(self): return 1
class Still(Base): pass
class Loose:
    @abstractmethod
    def f(self): return 2
try:
    Still()
except TypeError as e:
    print(e)
print(Loose().f())
class F(Callable):
    def __call__(self, x): return x + 1
print(F()(2), callable(F()))
""",
    "bytes and bytearrays": """
from collections import OrderedDict
import struct
b = bytes.fromhex("2b7e 15")
print(b, b.hex(), int.from_bytes(b, "big"), (300).to_bytes(2, "little"), b[0], b[1:], b + b"x", b * 2, list(b))
print(len(b), b == b"+~\\x15")
a = bytearray()
a.append(65); a += b"BC"; a.extend([68, 69]); a.insert(0, 64)
same = a
a[1] = 97
a[2:3] = b"xyz"
print(a, same is a, bytes(a), len(a), a[0], a[-1], a[1:4], [x for x in a], a == bytes(a), bytes(a) == a)
print(97 in a, b"yz" in a)
del a[0]
print(a.pop(), a.pop(0), a, a.decode(), a.find(b"y"), a + b"!", b"!" + a, a * 2, bool(bytearray()))
print(bytearray(3), bytearray(b"q"), type(a))
a.reverse(); print(a, sorted(a), sum(a), bytearray("hé", "utf-8"), bytearray([1, 2]))
print(bytearray.fromhex("ff00"), isinstance(a, bytearray))
print(a < b"zz", isinstance(a, bytes), int.from_bytes(bytearray([1, 2]), "big"), a.upper())
print(struct.unpack(">H", bytearray([1, 0])), f"{a!r}")
def turned(block):
    out = bytearray(len(block))
    for i in range(len(block)):
        out[i] = block[i] ^ 0xFF
    return bytes(out)
print(turned(b"abc").hex(), np.frombuffer(bytes(a), dtype=np.uint8))
for change in (lambda: a.append(256), lambda: a.append("x"), lambda: a[99], lambda: bytes([300]), lambda: bytes.fromhex("zz"),
               lambda: a + "x",
               lambda: a.index(b"?"), lambda: {a: 1}, lambda: bytearray().pop(), lambda: a["x"], lambda: b.__setitem__(0, 1)):
    try:
        print(change())
    except (ValueError, TypeError, IndexError, AttributeError) as e:
        print(type(e).__name__, e)
od = OrderedDict.fromkeys("abrac")
od.move_to_end("a")
print("".join(od), od, list(dict.fromkeys("abca")), OrderedDict.fromkeys([1, 2], 0), bytes(3), bytes([65, 66]), b"%d" == b"%d")
""",
    "descriptors": """
from functools import partialmethod
class Positive:
    def __set_name__(self, owner, name): self.name, self.of = "_" + name, owner.__name__
    def __get__(self, obj, t=None):
        return self if obj is None else getattr(obj, self.name)
    def __set__(self, obj, v):
        if v <= 0: raise ValueError(f"{self.of}{self.name} must be positive")
        setattr(obj, self.name, v)
class Once:
    def __init__(self, f): self.f = f
    def __set_name__(self, owner, name): self.name = name
    def __get__(self, obj, t):
        print("computed")
        value = obj.__dict__[self.name] = self.f(obj)
        return value
class A:
    s = Positive()
    t = Positive()
    def __init__(self, s): self.s = s
    @Once
    def double(self): return 2 * self.s
    def scaled(self, x, k, *, by=1): return x * k * by + self.s
    two = partialmethod(scaled, k=2)
    three = partialmethod(scaled, 3)
class B(A): pass
a, b = A(3), B(np.float64(4))
a.s += 2
b.t = 1
print(a.s, b.s, b.t, a.__dict__, a.double, a.double, A.s.name, type(A.t).__name__, a.two(4), a.two(1, by=5))
print(b.three(1), b.three(k=2, by=3))
for v in (0, -1):
    try:
        a.s = v
    except ValueError as e:
        print(e, a.s)
""",
    "named tuples with methods": """
from typing import NamedTuple
from collections import namedtuple
class P(NamedTuple):
    x: int
    y: int = 0
    def __add__(self, o): return P(self.x + o[0], self.y + o[1])
    def __radd__(self, o): return self if o == 0 else P(self.x + o[0], self.y + o[1])
    def __sub__(self, o): return P(self.x - o.x, self.y - o.y) if isinstance(o, P) else NotImplemented
    def __neg__(self): return P(-self.x, -self.y)
    def __mul__(self, k): return P(self.x * k, self.y * k)
    def __rmul__(self, k): return self * k
    def __lt__(self, o): return self.y < o[1]
    def __abs__(self): return abs(self.x) + abs(self.y)
a, b = P(1, 2), P(3, -4)
print(a + b, a - b, -a, a * 3, 2 * a, sum([a, b]))
print(a + (1, 1), (5, 5) + a, a < b, b < a, sorted([a, b]), a == P(1, 2))
print(a != b, abs(b), min(a, b), max([a, b]), sorted([(b, 1), (a, 0)]))
a += b
print(a, a > b, P(1) < (2, 3), (0, 9) < P(1, 5), a <= b, a[0], list(a), len(a), 4 in a, {P(1): "k"}[(1, 0)])
try:
    a - 1
except TypeError as e:
    print(e)
class Odd(namedtuple("Pair", "x y")):
    def __eq__(self, o): return self.x == o.x
    def __len__(self): return 7
    def __contains__(self, v): return v == "in"
    def __bool__(self): return False
    def __getitem__(self, i): return i
    def __iter__(self): return iter([9, 8])
o = Odd(1, 2)
first, second = o
print(o == Odd(1, 3), o != Odd(1, 2), [o] == [Odd(1, 5)], len(o), "in" in o, 1 in o, bool(o), o[5], list(o))
print(first, second, 1 if o else 0)
class Plain(NamedTuple):
    x: int
print(Plain(1) + (2,), Plain(1) * 2, Plain(1) == (1,), bool(Plain(0)), -1 * Plain(3), +P(1).x)
""",
    "decimals": """
import decimal
from decimal import Decimal, getcontext, ROUND_HALF_UP, ROUND_DOWN, InvalidOperation
print(Decimal(1) / 3, Decimal("2.675").quantize(Decimal("0.01"), rounding=ROUND_HALF_UP), getcontext().prec)
getcontext().prec = 30
print(Decimal(2).sqrt(), Decimal(1) / Decimal(7), Decimal("0.1") + Decimal("0.2"), getcontext().prec)
decimal.getcontext().prec, getcontext().rounding = 5, ROUND_DOWN
print(Decimal(2) / 3, round(Decimal("2.5")), +Decimal("1.23456789"))
for f in (lambda: Decimal(1) / 0, lambda: Decimal("x"), lambda: Decimal(1) + "a", lambda: Decimal(0) / 0):
    try:
        print(f())
    except (ArithmeticError, TypeError) as e:
        print(type(e).__name__, e)
try:
    Decimal("nope")
except InvalidOperation:
    print("invalid")
""",
}


def program(folder: Path, text: str) -> Program:
    path = folder / "line.py"
    path.write_text(f"import numpy as np\n\n{text}\n")
    return Program(path, None, {}, "", "")


@pytest.mark.parametrize("text", LINES.values(), ids=LINES.keys())
def test_what_python_prints(tmp_path: Path, text: str) -> None:
    given = program(tmp_path, text)
    with decimal.localcontext():
        _, expected = by_python(given)
    assert by_vm(given)[1] == expected


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("class P:\n    def __repr__(self): return unknown\nprint(P())", ["F201"]),
        ("w = np.zeros(4)\nw[:2] = np.nope(3)\nassert w.sum() > 1\nprint(w)", ["F205"]),
        ("d = {}\nd['a'] = np.nope(3)\nprint(d['a'] + 1)", ["F205"]),
        ("class P:\n    def __init__(self):\n        self.a = np.nope(3)\n        self.b = self.a + 1\nprint(P().b)", ["F205"]),
        ("def f(x):\n    x[0] = np.nope(3)\n    return x\nw = np.zeros(2)\nf(w)\nassert w[0] == 3", ["F205"]),
        ("y = np.nope(3)\nx = 1\nif x == 1:\n    raise ValueError(y)", ["F205"]),
        ("class P:\n    def __len__(self): return unknown\nn = len(P())\nprint(n + 1)", ["F201"]),
    ],
)
def test_consequences_of_an_error_are_not_reported(tmp_path: Path, text: str, said: list[str]) -> None:
    with pytest.raises(SourceError) as caught:
        by_vm(program(tmp_path, text))
    assert re.findall(r"\bF\d\d\d\b", str(caught.value)) == said
