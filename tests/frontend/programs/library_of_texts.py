import json
import os
import textwrap
from typing import Generic, Protocol, TypeVar

import numpy as np

T = TypeVar("T")


class Stack(Generic[T]):
    def __init__(self) -> None:
        self.items: list[T] = []

    def push(self, item: T) -> "Stack[T]":
        self.items.append(item)
        return self


class Shape(Protocol):
    def area(self) -> float: ...


class Square:
    def area(self) -> float:
        return 4.0


def shown(shape: Shape) -> None:
    print(shape.area())


print(Stack[int]().push(3).items, "%x %o %X|%5.1f" % (255, 8, 171, 2.25))
shown(Square())
print(json.dumps({"b": [1, 2.5, None, True], "a": float(np.mean([1, 2]))}, sort_keys=True), json.loads('{"k": [1, {"z": 2}]}')["k"])
print(os.path.join("a", "b.txt"), os.path.splitext("f.tar.gz"), textwrap.fill("aa bb cc dd", 5).splitlines())
