"""The record of one builtin function: its arity, keywords and reader."""

from __future__ import annotations

import ast
from collections.abc import Callable
from typing import TYPE_CHECKING, NamedTuple, TypeAlias

from fleet.frontend.python.values import Value

if TYPE_CHECKING:
    from fleet.frontend.python.evaluator import Evaluator

MANY = 1 << 20
"""Positional arguments of a function that takes any number."""
Reader: TypeAlias = Callable[["Evaluator", ast.Call, list[Value], dict[str, Value]], Value]


class Builtin(NamedTuple):
    """A builtin: the function that reads a call, the least and most positional arguments, and the keywords ("*": any)."""

    read: Reader
    fewest: int
    most: int
    keywords: tuple[str, ...] = ()
