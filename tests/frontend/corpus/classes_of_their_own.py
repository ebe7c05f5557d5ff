from functools import singledispatch
from enum import IntEnum, Enum
from collections import deque
import numpy as np
class Prio(IntEnum):
    LOW = 1
    HIGH = 5
print(-Prio.HIGH, Prio.LOW + 1, Prio.HIGH * 2.5, ~Prio.LOW, sorted(Prio, reverse=True)[0].name, [10, 20][Prio.LOW], max(Prio), Prio(5) is Prio.HIGH, Prio.LOW < 3)
class V:
    def __init__(self, *xs): self.xs = xs
    def __eq__(self, o): return isinstance(o, V) and self.xs == o.xs
    def __hash__(self): return hash(("V", self.xs))
    def __repr__(self): return f"V{self.xs}"
seen = {V(1, 2): "a"}
seen[V(1, 2)] = "b"; seen[V(3)] = "c"
print(seen, V(3) in seen, len({V(1), V(1), V(2)}), seen.get(V(9), "none"))
class U:
    def __eq__(self, o): return True
try:
    {U(): 1}
except TypeError as e:
    print(e)
@singledispatch
def show(x, pad=""): return pad + "object " + repr(x)
@show.register
def _(x: int, pad=""): return pad + "int"
@show.register(bool)
def _(x, pad=""): return pad + "bool"
@show.register(list)
def _(x, pad=""): return pad + "[" + ", ".join(show(v) for v in x) + "]"
@show.register(V)
def show_v(x, pad=""): return pad + "vector"
class W(V): pass
print(show(1), show(True), show([1, 2.5, "a", [True]]), show(W(1), pad=">"), show(None))
class Lazy:
    def __init__(self): self.calls = []
    def __getattr__(self, name):
        if name.startswith("_"): raise AttributeError(name)
        self.calls.append(name)
        return lambda *a: (name, *a)
z = Lazy()
print(z.foo(1), z.bar, hasattr(z, "_x"), hasattr(z, "y"), getattr(z, "_q", 7), z.calls) if False else print(z.foo(1), hasattr(z, "_x"), hasattr(z, "y"), getattr(z, "_q", 7), z.calls)
try:
    z._zz
except AttributeError as e:
    print("no", e)
try:
    try:
        1 / 0
    except ZeroDivisionError as e:
        raise ValueError("bad") from e
except ValueError as e:
    print(repr(e.__cause__), e.__context__ is e.__cause__)
try:
    raise KeyError("k") from None
except KeyError as e:
    print(e.__cause__, e.__context__)
print(hash(1) == hash(1.0), hash((1, 2)) == hash((1, 2)), isinstance(deque(), list), (255).to_bytes(2, "big"), hash(2**61))
class A:
    x = 1
a = A()
try:
    a.y
except AttributeError as e:
    print(e)
try:
    A.z
except AttributeError as e:
    print(e)
try:
    a.size = a.nothing
except (AttributeError, KeyError):
    a.size = 0
print(a.size, list(map(np.ndarray.sum, np.ones((2, 3)))), np.ndarray.tolist(np.arange(3)))
