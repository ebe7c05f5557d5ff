import numpy as np
from collections import namedtuple
class Config:
    _instance = None
    def __new__(cls, *args, **kw):
        if cls._instance is None:
            cls._instance = super().__new__(cls)
        return cls._instance
    def __init__(self, lr=0.1):
        self.lr = lr
a, b = Config(0.2), Config(0.5)
print(a is b, a.lr)
class Pt(tuple):
    def __new__(cls, x, y):
        return super().__new__(cls, (x, y))
    x = property(lambda self: self[0])
    @property
    def y(self): return self[1]
    def __add__(self, o): return Pt(self.x + o.x, self.y + o.y)
    def norm(self): return np.hypot(*self)
p = Pt(3, 4) + Pt(1, 1)
print(p, p.norm(), len(p), isinstance(p, tuple), type(p).__name__, p == (4, 5), {p: 1}[(4, 5)], [*p])
class Shape(tuple):
    @property
    def size(self): return int(np.prod(self))
s = Shape((2, 3)); print(s, s.size, np.zeros(s).shape, Shape(range(3)), repr(s), s + (1,), s[::-1])
class V(namedtuple("V", "x y z")):
    __slots__ = ()
    def __new__(cls, x, y, z=0.0):
        return super().__new__(cls, x, y, z)
    def dot(self, o): return sum(a * b for a, b in zip(self, o))
print(V(1, 2), V(1, 2, 3).dot(V(1, 1, 1)), V(1, 2)._replace(z=5))
class Shape2:
    def __new__(cls, n):
        return object.__new__(Square if n == 4 else cls)
    def __init__(self, n): self.n = n
    def area(self): return self.n
class Square(Shape2):
    def area(self): return self.n ** 2
print([type(Shape2(k)).__name__ for k in (3, 4)], Shape2(4).area())
class Never:
    def __new__(cls): return 7
print(Never())
class Pooled:
    pool = {}
    def __new__(cls, name):
        if name not in cls.pool:
            made = tuple.__new__ if False else object.__new__(cls)
            made.name, made.w = name, np.ones(3) * len(name)
            cls.pool[name] = made
        return cls.pool[name]
print(Pooled("ab") is Pooled("ab"), Pooled("abc").w.sum(), len(Pooled.pool))
try:
    class B:
        def __new__(cls, x): return super().__new__(cls, x)
    B(1)
except TypeError as e:
    print(e)
class Row(tuple):
    def __new__(cls, *v): return tuple.__new__(cls, v)
    def __repr__(self): return "Row<" + ",".join(map(str, self)) + ">"
    def __getitem__(self, i): return tuple.__getitem__(self, i) * 10
r = Row(1, 2); print(r, f"{r}", r[0], list(r))
class Poly(tuple):
    def __new__(cls, *cs): return super().__new__(cls, cs)
    def __init__(self, *cs): print("init", cs)
    def __call__(self, x): return sum(c * x**i for i, c in enumerate(self))
    def __getitem__(self, i): return super().__getitem__(i) if i < len(self) else 0
    def __hash__(self): return 3
print(Poly(1, 2, 3)(2), Poly(1)[4], Poly(1, 1).count(1), Poly(4, 5).index(5), max(Poly(4, 9)), np.array(Poly(1, 2)).sum(), sorted(Poly(3, 1)))
