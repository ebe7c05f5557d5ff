"""The series that a loop goes over, indexed by a round number that only the run knows."""

from __future__ import annotations

import ast
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from fleet.frontend.arrays.emitting import builder_of
from fleet.frontend.arrays.making import static
from fleet.frontend.arrays.parts import late_element
from fleet.frontend.arrays.truths import SCALARS, kind_of_number
from fleet.frontend.python.containers import views
from fleet.frontend.reading.errors import expression_at
from fleet.frontend.reading.evaluator import Evaluator
from fleet.frontend.reading.values import DictView, Lazy, List, NumberValue, RangeValue, TracedArray, Value


@dataclass(frozen=True)
class Series:
    """count: of its elements; at: element of a number."""

    count: NumberValue
    at: Callable[[NumberValue], Value]


def compared(ev: Evaluator, node: ast.AST, name: str, lhs: NumberValue, rhs: NumberValue) -> NumberValue:
    """A comparison of numbers that only the run knows."""
    return ev.domain.arithmetic(expression_at(node), name, [lhs, rhs], None)


def series_of(ev: Evaluator, node: ast.expr, value: Value) -> Series | None:
    """The series that a value is; None for what can only be gone over in order."""
    match value:
        case RangeValue():
            first, step = value.values.start, value.values.step
            return Series(NumberValue(len(value.values)), lambda k: along(ev, node, NumberValue(first), NumberValue(step), k))
        case Lazy() if isinstance(value.series, Series):
            return value.series
        case TracedArray() if value.shape and value.shape[0] >= 0:
            # What the loop changes in the array it sees, as Python does: the array is asked in every round.
            return Series(NumberValue(value.shape[0]), lambda k: late_element(ev, node, value, k))
        case DictView():
            return _of_list(ev, node, views.snapshot(ev, node, value))
        case List() | tuple():
            return _of_list(ev, node, list(value.items) if isinstance(value, List) else list(value))
        case _:
            return None


def along(ev: Evaluator, node: ast.expr, first: NumberValue, step: NumberValue, k: NumberValue) -> NumberValue:
    """first + k * step."""
    one = not step.symbolic and step.value == 1
    product = k if one else ev.domain.arithmetic(node, "mul", [k, step], None)
    zero = not first.symbolic and first.value == 0
    return product if zero else ev.domain.arithmetic(node, "add", [product, first], None)


def _of_list(ev: Evaluator, node: ast.expr, items: list[Value]) -> Series | None:
    """Numbers of one kind that are known: a table that the run looks into."""
    numbers = [v for v in items if isinstance(v, NumberValue) and not v.symbolic]
    if not numbers or len(numbers) < len(items) or len({kind_of_number(v) for v in numbers}) > 1:
        return None
    kind = kind_of_number(numbers[0])
    try:
        table = np.array([v.value for v in numbers], SCALARS[kind])
    except OverflowError:
        return None

    def at(k: NumberValue) -> Value:
        found = late_element(ev, node, static(ev, node, table, "table", scalar=False), k)
        assert isinstance(found, TracedArray)
        return NumberValue(None, builder_of(ev).emit(node, "item", [found.ssa], number=kind.__name__))

    return Series(NumberValue(len(items)), at)
