"""NumPy's functions of dtypes and shapes, answered while the source is read."""

from __future__ import annotations

import ast
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

from fleet.frontend.arrays.arguments import dtype_of
from fleet.frontend.reading.evaluator import Evaluator
from fleet.frontend.reading.values import Complex, Library, List, NumberValue, TracedArray, Value
from fleet.frontend.reading.wording import words

_KINDS = "generic number integer signedinteger unsignedinteger inexact floating complexfloating datetime64 timedelta64"
ABSTRACT: Mapping[str, Any] = {f"numpy.{n}": getattr(np, n) for n in _KINDS.split()}
"""Families of dtypes, for `np.issubdtype`."""


def _dtype(ev: Evaluator, node: ast.AST, value: Value) -> np.dtype:
    if isinstance(value, np.dtype):
        return value
    return value.dtype if isinstance(value, TracedArray) else dtype_of(ev, node, value)


def _can_cast(ev: Evaluator, node: ast.AST, args: Sequence[Value]) -> Value:
    casting = args[2] if len(args) > 2 else "safe"
    if casting not in ("no", "equiv", "safe", "same_kind", "unsafe"):
        ev.fail("F408", node, f"casting is {words(casting)}", "'safe', 'same_kind' ...")
    return NumberValue(np.can_cast(_dtype(ev, node, args[0]), _dtype(ev, node, args[1]), casting))  # pyright: ignore[reportArgumentType]


def _result_type(ev: Evaluator, node: ast.AST, args: Sequence[Value]) -> Value:
    given = [a.value if isinstance(a, NumberValue) else _dtype(ev, node, a) for a in args]
    return np.result_type(*given)


def _issubdtype(ev: Evaluator, node: ast.AST, args: Sequence[Value]) -> Value:
    family = args[1]
    other = ABSTRACT[family.path] if isinstance(family, Library) and family.path in ABSTRACT else _dtype(ev, node, family)
    return NumberValue(np.issubdtype(_dtype(ev, node, args[0]), other))


def _min_scalar_type(ev: Evaluator, node: ast.AST, args: Sequence[Value]) -> Value:
    number = ev.static(args[0])
    if number is None:
        ev.fail("F404", node, f"min_scalar_type of {words(args[0])}", "it takes a number known from the source")
    return np.min_scalar_type(number)


def _broadcast_shapes(ev: Evaluator, node: ast.AST, args: Sequence[Value]) -> Value:
    try:
        found = np.broadcast_shapes(*(ev.integers(node, a, "a shape") for a in args))
    except ValueError as error:
        ev.fail("F301", node, str(error))
    return tuple(NumberValue(n) for n in found)


def _isscalar(_ev: Evaluator, _node: ast.AST, args: Sequence[Value]) -> Value:
    return NumberValue(isinstance(args[0], NumberValue | Complex | str) or (isinstance(args[0], TracedArray) and args[0].scalar))


def _is_complex(value: Value) -> bool:
    parts = value.items if isinstance(value, List) else value if isinstance(value, tuple) else ()
    complex_array = isinstance(value, TracedArray) and value.dtype.kind == "c"
    return complex_array or isinstance(value, Complex) or any(map(_is_complex, parts))


FACTS: Mapping[str, tuple[Callable[[Evaluator, ast.AST, Sequence[Value]], Value], int, int]] = {
    "numpy.can_cast": (_can_cast, 2, 3),
    "numpy.promote_types": (lambda ev, node, a: np.promote_types(_dtype(ev, node, a[0]), _dtype(ev, node, a[1])), 2, 2),
    "numpy.result_type": (_result_type, 1, 64),
    "numpy.issubdtype": (_issubdtype, 2, 2),
    "numpy.min_scalar_type": (_min_scalar_type, 1, 1),
    "numpy.isscalar": (_isscalar, 1, 1),
    "numpy.iscomplexobj": (lambda _ev, _node, a: NumberValue(_is_complex(a[0])), 1, 1),
    "numpy.isrealobj": (lambda _ev, _node, a: NumberValue(not _is_complex(a[0])), 1, 1),
    "numpy.broadcast_shapes": (_broadcast_shapes, 1, 64),
}
"""Function -> (reader, least arguments, most arguments)."""


def call(ev: Evaluator, node: ast.Call, path: str, args: Sequence[Value], keywords: Mapping[str, Value]) -> Value:
    """Return the known fact that a call asks for."""
    function, fewest, most = FACTS[path]
    values = [*args, *(v for k, v in keywords.items() if k == "casting")]
    if not fewest <= len(values) <= most or keywords.keys() - {"casting"}:
        ev.fail("F208", node, f"{path.replace('numpy', 'np', 1)} with these arguments is not supported")
    return function(ev, node, values)
