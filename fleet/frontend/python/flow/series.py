"""What a loop goes over, by the number of a round that only the run knows."""

from __future__ import annotations

import ast
from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from fleet.frontend.python.errors import expression_at
from fleet.frontend.python.flow.regions import SCALARS, builder_of, kind_of_number
from fleet.frontend.python.values import Lazy, List, Number, Range, Tensor, Value

if TYPE_CHECKING:
    from fleet.frontend.python.evaluator import Evaluator

__all__ = ["Series", "compared", "series_of"]


@dataclass(frozen=True)
class Series:
    """count: of its elements; at: element of a number."""

    count: Number
    at: Callable[[Number], Value]


def compared(ev: Evaluator, node: ast.AST, name: str, lhs: Number, rhs: Number) -> Number:
    """A comparison of numbers that only the run knows."""
    return ev.domain.arithmetic(expression_at(node), name, [lhs, rhs], None)


def series_of(ev: Evaluator, node: ast.expr, value: Value) -> Series | None:
    """The series that a value is; None for what can only be gone over in order."""
    match value:
        case Range():
            first, step = value.values.start, value.values.step
            return Series(Number(len(value.values)), lambda k: along(ev, node, Number(first), Number(step), k))
        case Lazy() if isinstance(value.series, Series):
            return value.series
        case Tensor() if value.shape and value.shape[0] >= 0:
            from fleet.frontend.arrays import indexing

            # What the loop changes in the array it sees, as Python does: the array is asked in every round.
            return Series(Number(value.shape[0]), lambda k: indexing.late_element(ev, node, value, k))
        case List() | tuple():
            return _of_list(ev, node, list(value.items) if isinstance(value, List) else list(value))
        case _:
            return None


def along(ev: Evaluator, node: ast.expr, first: Number, step: Number, k: Number) -> Number:
    """first + k * step."""
    one = not step.symbolic and step.value == 1
    product = k if one else ev.domain.arithmetic(node, "mul", [k, step], None)
    zero = not first.symbolic and first.value == 0
    return product if zero else ev.domain.arithmetic(node, "add", [product, first], None)


def _of_list(ev: Evaluator, node: ast.expr, items: list[Value]) -> Series | None:
    """Numbers of one kind that are known: a table that the run looks into."""
    numbers = [v for v in items if isinstance(v, Number) and not v.symbolic]
    if not numbers or len(numbers) < len(items) or len({kind_of_number(v) for v in numbers}) > 1:
        return None
    kind = kind_of_number(numbers[0])
    try:
        table = np.array([v.value for v in numbers], SCALARS[kind])
    except OverflowError:
        return None

    def at(k: Number) -> Value:
        from fleet.frontend.arrays import indexing
        from fleet.frontend.arrays.functions import create

        found = indexing.late_element(ev, node, create.static(ev, node, table, "table", scalar=False), k)
        assert isinstance(found, Tensor)
        return Number(None, builder_of(ev).emit(node, "item", [found.ssa], number=kind.__name__))

    return Series(Number(len(items)), at)
