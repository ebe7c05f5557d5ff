"""Values of the source as Python has them, where they are known, and back."""

from __future__ import annotations

import ast
from typing import Any

from fleet.frontend.reading.evaluator import Evaluator
from fleet.frontend.reading.values import Complex, Dict, List, NumberValue, RangeValue, Set, Value, words

__all__ = ["known", "value_of"]


def known(ev: Evaluator, node: ast.AST, value: Value, what: str) -> Any:
    """A number, text, None, or a container of such. SourceError F404 for anything that only the run knows."""
    match value:
        case None | str():
            return value
        case Complex():
            return value.value
        case RangeValue():
            return value.values
        case List():
            return [known(ev, node, v, what) for v in value.items]
        case tuple():
            return tuple(known(ev, node, v, what) for v in value)
        case Dict():
            return {k: known(ev, node, v, what) for k, v in value.items.items()}
        case Set():
            return set(value.items)
        case _:
            found = ev.static(value)
            if found is None:
                ev.fail("F404", node, f"{what} must be known from the source, found {words(value)}")
            return found


def value_of(plain: Any) -> Value:
    """What Python's library gave, as a value of the source."""
    match plain:
        case None | str():
            return plain
        case bool() | int() | float():
            return NumberValue(plain)
        case complex():
            return Complex(plain)
        case tuple():
            return tuple(value_of(p) for p in plain)  # pyright: ignore[reportUnknownVariableType]
        case list():
            return List([value_of(p) for p in plain])  # pyright: ignore[reportUnknownVariableType]
        case _:
            raise TypeError(type(plain).__name__)
