"""Values of the source as Python has them, where they are known, and back."""

from __future__ import annotations

import ast
from typing import Any

from fleet.frontend.reading.evaluator import Evaluator
from fleet.frontend.reading.values import ByteArray, Complex, Dict, List, NumberValue, RangeValue, Set, Value
from fleet.frontend.reading.wording import words


def check_size(ev: Evaluator, node: ast.AST, value: Value) -> None:
    """Refuse a container that holds few others many times, and so written out is larger than memory. SourceError F607."""
    if isinstance(value, List | tuple | Dict):
        ev.bounded(node, _written_out(value, {}), "a container, written out,")


def _written_out(value: Value, seen: dict[int, int]) -> int:
    """Parts of a value, counted as often as they stand in it. seen: by identity, those of the containers counted so far."""
    if not isinstance(value, List | tuple | Dict):
        return 1
    if id(value) not in seen:
        parts = value if isinstance(value, tuple) else value.items if isinstance(value, List) else value.items.values()
        seen[id(value)] = 1 + sum(_written_out(p, seen) for p in parts)
    return seen[id(value)]


def known(ev: Evaluator, node: ast.AST, value: Value, what: str) -> Any:
    """A number, text, None, or a container of such. SourceError F404 for anything that only the run knows."""
    check_size(ev, node, value)
    return _known(ev, node, value, what)


def _known(ev: Evaluator, node: ast.AST, value: Value, what: str) -> Any:
    value = ev.settled(value)
    match value:
        case None | str() | bytes():
            return value
        case Complex():
            return value.value
        case ByteArray():
            return value.data
        case RangeValue():
            return value.values
        case List():
            return [_known(ev, node, v, what) for v in value.items]
        case tuple():
            return tuple(_known(ev, node, v, what) for v in value)
        case Dict():
            return {k: _known(ev, node, v, what) for k, v in value.items.items()}
        case Set():
            return set(value.items)
        case _:
            found = ev.static(value)
            if found is None:
                ev.fail("F404", node, f"{what} must be known from the source, found {words(value)}")
            return found


def value_of(plain: object) -> Value:
    """What Python's library gave, as a value of the source."""
    match plain:
        case None | str() | bytes():
            return plain
        case bool() | int() | float():
            return NumberValue(plain)
        case complex():
            return Complex(plain)
        case tuple():
            return tuple(value_of(p) for p in plain)  # pyright: ignore[reportUnknownVariableType]
        case dict():
            return Dict({k: value_of(v) for k, v in plain.items()})  # pyright: ignore[reportUnknownVariableType, reportUnknownArgumentType]
        case list():
            return List([value_of(p) for p in plain])  # pyright: ignore[reportUnknownVariableType]
        case _:
            raise TypeError(type(plain).__name__)
