"""Print options of NumPy while the source is read, among them functions of the source that show elements."""

from __future__ import annotations

import ast
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from fleet.frontend.reading.errors import as_call, expression_at
from fleet.frontend.reading.evaluator import Evaluator
from fleet.frontend.reading.values import Complex, Dict, NumberValue, TracedArray, Value
from fleet.frontend.reading.wording import words
from fleet.ir.operations.program_ops import read_options
from fleet.ir.types import DTYPES


def options(ev: Evaluator, node: ast.AST) -> dict[str, Any]:
    """The options of now, as `np.printoptions` takes them."""
    found = read_options(ev.printing) if ev.printing else {}
    return {**found, "formatter": callbacks(ev, node, ev.formatter)} if ev.formatter else found


def formatter_of(ev: Evaluator, node: ast.AST, value: Value) -> Mapping[str, Value]:
    """`formatter=` of print options: kind of element -> function. SourceError F408 for anything but a dict or None."""
    if value is None:
        return {}
    if not isinstance(value, Dict):
        return ev.fail("F408", node, f"formatter={words(value)}", "it is a dict such as {'float_kind': '{:.2f}'.format}")
    return {str(kind): function for kind, function in value.items.items() if function is not None}


def callbacks(ev: Evaluator, node: ast.AST, formatter: Mapping[str, Value]) -> dict[str, Callable[[Any], str]]:
    """The functions of a formatter as NumPy calls them."""
    return {kind: _callback(ev, node, function) for kind, function in formatter.items()}


def _callback(ev: Evaluator, node: ast.AST, function: Value) -> Callable[[Any], str]:
    def shown(element: Any) -> str:
        text = ev.settled(ev.call(as_call(expression_at(node)), function, [_value(ev, node, element)], {}))
        return text if isinstance(text, str) else ev.fail("F408", node, f"a formatter gives {words(text)}", "it gives a string")

    return shown


def _value(ev: Evaluator, node: ast.AST, element: Any) -> Value:
    match element:
        case str():
            return str(element)
        case bytes() | None:
            return element
        case np.generic() if element.dtype.name in DTYPES:
            return ev.domain.literal(ev, node, element)
        case complex():
            return Complex(element)
        case bool() | int() | float():
            return NumberValue(element)
        case _:
            return ev.fail("F408", node, f"a {type(element).__name__} is shown by a formatter", "numbers and texts are")


def text(ev: Evaluator, node: ast.AST, value: TracedArray, *, quoted: bool) -> str:
    """The text of an array under a formatter. SourceError F404 if only the run knows its elements."""
    plain = ev.domain.elements_of(value)
    if plain is None:
        hint = "print its elements with f-strings, or set print options without a formatter"
        ev.fail("F404", node, f"{words(value)}, whose elements only the run knows, printed with a formatter", hint)
    with np.printoptions(**options(ev, node)):
        return repr(plain) if quoted else str(plain)
