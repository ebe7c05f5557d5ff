"""Classes that functions of the file decorate: registries, wrappers, singletons; dataclasses among them."""

from __future__ import annotations
import enum
from dataclasses import dataclass
from typing import Protocol, final, runtime_checkable
import numpy as np

REG = {}
ORDER = []


def register(name, *, alias=None):
    def deco(cls):
        REG[name] = cls
        if alias:
            REG[alias] = cls
        cls.kind = name
        return cls

    return deco


def plain(cls):
    ORDER.append(cls.__name__)
    cls.twice = lambda self, x: self(self(x))
    return cls


class Registry:
    def __init__(self):
        self.found = {}

    def register(self, cls):
        self.found[cls.__name__.lower()] = cls
        return cls

    def __call__(self, cls):
        return self.register(cls)

    def __getitem__(self, k):
        return self.found[k]


layers = Registry()


def singleton(cls):
    made = {}

    def get(*args, **kw):
        if cls not in made:
            made[cls] = cls(*args, **kw)
        return made[cls]

    return get


@register("scale", alias="s")
@plain
class Scale:
    def __init__(self, k):
        self.k = k

    def __call__(self, x):
        return x * self.k


@layers.register
@dataclass
class Shift:
    by: float = 1.0

    def __call__(self, x):
        return x + self.by


@layers
@final
class Square:
    def __call__(self, x):
        return x * x


@runtime_checkable
class Callable2(Protocol):
    def __call__(self, x): ...


@enum.unique
class Mode(enum.Enum):
    A = 1
    B = 2


@singleton
class Config:
    def __init__(self, n):
        self.n = n


@plain
@register("half")
@dataclass(frozen=True)
class Half:
    d: int = 2

    def __call__(self, x):
        return x / self.d


x = np.arange(4.0)
print(REG["scale"](3)(x), REG["s"] is Scale, Scale.kind, sorted(REG), ORDER)
print(Scale(2).twice(x), layers["shift"](2.5)(x), layers["square"]()(x), Shift())
print(Config(3).n, Config(9).n, Config(1) is Config(2), Mode.B, Half().twice(x), Half.kind)
