import math
from abc import ABC, abstractmethod


class Shape(ABC):
    registry = {}

    def __init_subclass__(cls, **kw):
        super().__init_subclass__(**kw)
        Shape.registry[cls.__name__.lower()] = cls

    @abstractmethod
    def area(self):
        ...

    def describe(self):
        return f"{type(self).__name__} with area {self.area():.2f}"

    @staticmethod
    def build(kind, *args):
        try:
            return Shape.registry[kind](*args)
        except KeyError:
            raise LookupError(f"no shape {kind}") from None


class Circle(Shape):
    def __init__(self, r):
        self.r = r

    def area(self):
        return math.pi * self.r ** 2


class Rect(Shape):
    def __init__(self, w, h):
        self.w, self.h = w, h

    def area(self):
        return self.w * self.h


class Square(Rect):
    def __init__(self, a):
        super().__init__(a, a)

    def describe(self):
        return super().describe() + " (square)"


shapes = [Shape.build("circle", 1.5), Shape.build("rect", 2, 3), Shape.build("square", 2)]
for s in sorted(shapes, key=lambda s: s.area()):
    print(s.describe())
try:
    Shape.build("hexagon", 1)
except LookupError as e:
    print("LookupError:", e)
print(sorted(Shape.registry), isinstance(shapes[2], Rect), [hasattr(s, "r") for s in shapes])
