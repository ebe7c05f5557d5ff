"""The record of one builtin function: its arity, keywords and reader."""

from __future__ import annotations

import ast
from collections.abc import Callable
from typing import NamedTuple, TypeAlias

from fleet.frontend.reading.evaluator import Evaluator
from fleet.frontend.reading.values import Value

MANY = 1 << 20
"""Positional arguments of a function that takes any number."""
RecordReader: TypeAlias = Callable[["Evaluator", ast.Call, list[Value], dict[str, Value]], Value]


class Builtin(NamedTuple):
    """A builtin: the function that reads a call, the least and most positional arguments, and the keywords ("*": any)."""

    read: RecordReader
    fewest: int
    most: int
    keywords: tuple[str, ...] = ()
