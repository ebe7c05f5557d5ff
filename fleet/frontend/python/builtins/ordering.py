"""Python's order of values: what sorted, max, min and heapq compare."""

from __future__ import annotations

import ast
from typing import Any

from fleet.frontend.python.classes import objects
from fleet.frontend.python.containers import builtin
from fleet.frontend.reading.evaluator import Evaluator
from fleet.frontend.reading.values import List, NamedTupleValue, NumberValue, ObjectInstance, TracedArray, Value, number_behind
from fleet.frontend.reading.wording import words


def ordered(ev: Evaluator, node: ast.expr, value: Value, op: str) -> Any:
    """The value as an object that Python compares as it would compare the value.

    op: the function that asks, for messages. Comparing raises SourceError F501 if a value decides that is not known, and TypeError
    for kinds without an order.
    """
    value = number_behind(value)
    match value:
        case NamedTupleValue() if objects.overloads(value, "__lt__", "__gt__", "__eq__"):
            return _Other(ev, node, value, op)
        case tuple():
            return tuple(ordered(ev, node, v, op) for v in value)
        case List():
            return [ordered(ev, node, v, op) for v in value.items]
        case str():
            return value
        case NumberValue() | TracedArray() if (known := ev.static(value)) is not None:
            return known
        case _:
            return _Other(ev, node, value, op)


class _Other:
    """An object, or a value that is not known: compared only if it decides."""

    def __init__(self, ev: Evaluator, node: ast.expr, value: Value, op: str) -> None:
        self.ev, self.node, self.value, self.op = ev, node, value, op

    def __hash__(self) -> int:
        raise TypeError("made for comparisons alone")

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, _Other):
            return self._compared("equal", self, other)
        return other.value is self.value or self._compared("equal", self, other)

    def __lt__(self, other: object) -> bool:
        return self._compared("less", self, other)

    def __gt__(self, other: object) -> bool:
        return self._compared("greater", self, other)

    def _compared(self, op: str, lhs: object, rhs: object) -> bool:
        a, b = (v.value if isinstance(v, _Other) else _value(v) for v in (lhs, rhs))
        if isinstance(a, ObjectInstance) or isinstance(b, ObjectInstance):
            found = objects.compared(self.ev, self.node, op, a, b)
            return found is not None and self.ev.truth(self.node, found[0])
        if isinstance(a, NamedTupleValue) or isinstance(b, NamedTupleValue):
            found = objects.compared(self.ev, self.node, op, a, b)
            return builtin.compare(self.ev, self.node, op, a, b) if found is None else self.ev.truth(self.node, found[0])
        if isinstance(self.value, NumberValue):
            self.ev.unknown(self.node, f"{self.op} of a number that only the run knows")
        hint = "use np.max, np.min, np.maximum, np.minimum or np.sort's likes on arrays"
        return self.ev.fail("F501", self.node, f"{self.op} of {words(self.value)}: its value must be known from the source", hint)


def _value(plain: Any) -> Value:
    """The value behind what `ordered` gave for a number, a string or a sequence."""
    match plain:
        case _Other():
            return plain.value
        case tuple():
            return tuple(_value(p) for p in plain)  # pyright: ignore[reportUnknownVariableType, reportUnknownArgumentType]
        case list():
            return List([_value(p) for p in plain])  # pyright: ignore[reportUnknownVariableType, reportUnknownArgumentType]
        case str():
            return plain
        case _:
            return NumberValue(plain)
