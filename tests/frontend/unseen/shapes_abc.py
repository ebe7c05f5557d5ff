from abc import ABC, abstractmethod
from math import pi, sqrt

import numpy as np


class Shape(ABC):
    @abstractmethod
    def area(self) -> float: ...

    @abstractmethod
    def contains(self, pts: np.ndarray) -> np.ndarray: ...

    def estimate(self, n: int, rng) -> float:
        pts = rng.uniform(-1, 1, size=(n, 2))
        return 4 * self.contains(pts).mean()

    def __repr__(self):
        return f"{type(self).__name__}({self.area():.4f})"


class Circle(Shape):
    def __init__(self, r):
        self.r = r

    def area(self):
        return pi * self.r**2

    def contains(self, pts):
        return np.hypot(pts[:, 0], pts[:, 1]) <= self.r


class Square(Shape):
    def __init__(self, side):
        self.side = side

    @classmethod
    def inscribed(cls, r):
        return cls(r * sqrt(2))

    def area(self):
        return self.side**2

    def contains(self, pts):
        return np.all(np.abs(pts) <= self.side / 2, axis=1)


rng = np.random.default_rng(1)
for shape in (Circle(1.0), Circle(0.5), Square.inscribed(1.0)):
    est = shape.estimate(2000, rng)
    print(shape, f"estimate={est:.3f}", f"rel. error={(est - shape.area()) / shape.area():+.2%}")
