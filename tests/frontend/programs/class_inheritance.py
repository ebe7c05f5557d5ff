from abc import ABC, abstractmethod

import numpy as np


class Module:
    def __call__(self, *args, **kwargs):
        return self.forward(*args, **kwargs)

    def forward(self, x):
        raise NotImplementedError

    def describe(self):
        return f"{type(self).__name__}({self.extra()})"

    def extra(self):
        return ""

    def __repr__(self):
        return self.describe()


class Scale(Module):
    def __init__(self, s):
        super().__init__()
        self.s = s

    def forward(self, x, *, times=1):
        for _ in range(times):
            x = x * self.s
        return x

    def extra(self):
        return f"s={self.s}"


class Shift(Scale):
    def __init__(self, s, t):
        super(Shift, self).__init__(s)
        self.t = t

    def forward(self, x, **kwargs):
        return super().forward(x, **kwargs) + self.t

    def extra(self):
        return super().extra() + f", t={self.t}"


class Shape(ABC):
    @abstractmethod
    def area(self): ...

    @property
    @abstractmethod
    def name(self): ...

    def both(self):
        return self.name, self.area()


class Square(Shape, object):
    side = 2

    def area(self):
        return self.side**2

    @property
    def name(self):
        return "square"

    @name.setter
    def name(self, value):
        self.side = value


x = np.arange(3.0)
for m in (Scale(2), Shift(3.0, 1), Shift(s=1, t=np.float32(0.5))):
    print(m, m(x), m(x, times=2), isinstance(m, Scale), isinstance(m, (Shift, int)), issubclass(type(m), Module))
q = Square()
q.name = 5
print(q.both(), Square.side, q.side, Square.area(q))
print(str(Scale(1)), repr([Scale(1)]), f"{Scale(4)} {Scale(4)!r}", {"a": Scale(0)}, (Shift(1, 2),))


class A:
    kind = "a"

    @classmethod
    def make(cls, *args):
        return cls(*args)

    @staticmethod
    def one():
        return 1

    def who(self):
        return self.kind + str(self.one())


class B(A):
    kind = "b"

    @classmethod
    def make(cls):
        made = super().make()
        made.kind += "!"
        return made


print(A.make().who(), B.make().who(), B.one(), B.kind, A().make().who())


def build(n):
    class Local:
        size = n

        def get(self):
            return self.size + n

    return Local


print(build(2)().get(), build(3)().get())
