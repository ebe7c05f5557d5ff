"""Python's objects: names of classes and functions, exceptions, methods of builtins, and classes that inherit from builtins."""

from __future__ import annotations

from pathlib import Path

import pytest
from helpers_corpus import Program, by_python, by_vm

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
