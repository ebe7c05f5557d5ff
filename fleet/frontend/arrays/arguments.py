"""The arguments of a call of NumPy: by name, as axes, as dtypes."""

from __future__ import annotations

import ast
from collections.abc import Callable, Mapping, Sequence
from typing import TypeAlias

import numpy as np

from fleet.frontend.arrays.signatures import Signature
from fleet.frontend.reading.errors import as_call
from fleet.frontend.reading.evaluator import Evaluator
from fleet.frontend.reading.values import Library, List, NumberValue, TracedArray, Value, plain_dtype
from fleet.frontend.reading.wording import words
from fleet.ir.types import DTYPES

Arguments: TypeAlias = Mapping[str, Value]
Handler: TypeAlias = "Callable[[Evaluator, ast.Call, Arguments], Value]"
"""Turns a call into operations. Its arguments are given by name; "" is what follows the colon in the signature's handler."""


def axes_of(ev: Evaluator, node: ast.AST, rank: int, value: Value) -> list[int]:
    """Axes in ascending order, not negative; all of them for None. SourceError F305."""
    if value is None:
        return list(range(rank))
    axes = ev.integers(node, value, "axis")
    for a in axes:
        if not -rank <= a < rank:
            ev.fail("F305", node, f"axis {a} is out of bounds for an array of rank {rank}")
    found = sorted(a % rank for a in axes)
    if len(set(found)) != len(found):
        ev.fail("F305", node, f"axis {axes} names a dimension twice")
    return found


def axis_of(ev: Evaluator, node: ast.AST, rank: int, value: Value) -> int:
    """Return one axis."""
    return axes_of(ev, node, rank, NumberValue(ev.integer(node, value, "axis")))[0]


_WITHOUT_AXIS = frozenset({"mean", "var"})
"""Reductions for which NumPy refuses axis 0 of a scalar; a ufunc's reduction takes it."""


def reduced_axes(ev: Evaluator, node: ast.AST, op: str, x: TracedArray, args: Arguments) -> list[int]:
    """The axes of a reduction. NumPy takes axis 0 and -1 of a scalar, which reduce nothing."""
    axis = args.get("axis")
    if isinstance(axis, List):
        ev.fail("F404", node, "the axes of a reduction must be a number or a tuple of them, found a list", "write axis=(0, 1)")
    if not x.shape and op not in _WITHOUT_AXIS and isinstance(axis, NumberValue) and repr(ev.static(axis)) in ("0", "-1"):
        return []
    return axes_of(ev, node, len(x.shape), axis)


def keeps(ev: Evaluator, node: ast.AST, args: Arguments) -> bool:
    """The call's keepdims."""
    return ev.flag(node, args["keepdims"], "keepdims") if "keepdims" in args else False


def dtype_of(ev: Evaluator, node: ast.AST, value: Value) -> np.dtype:
    """`value` as a dtype: numpy.float32, "float32", float, x.dtype."""
    found: np.dtype | None = None
    if isinstance(value, np.dtype):
        found = value
    elif isinstance(value, Library) and value.path in _PYTHON_DTYPES:
        found = _PYTHON_DTYPES[value.path]
    elif isinstance(value, str):
        try:
            found = np.dtype(value) if len(value) < 16 else None
        except TypeError:
            found = None
    if found is None or found.name not in DTYPES or not found.isnative:
        ev.fail("F403", node, f"expected a dtype, found {words(value)}", f"supported are {', '.join(DTYPES)}")
    return plain_dtype(found)


_PYTHON_DTYPES = {
    "builtins.float": np.dtype(float), "builtins.int": np.dtype(np.int64), "builtins.bool": np.dtype(bool),
    "builtins.complex": np.dtype(complex),
}  # fmt: skip


def to_array(ev: Evaluator, node: ast.expr, value: Value) -> Value:
    """A list or tuple as the array that NumPy makes of it."""
    return ev.domain.call(ev, as_call(node), "numpy.array", [value], {}) if isinstance(value, tuple | List) else value


def bind(
    ev: Evaluator, node: ast.Call, name: str, signature: Signature, args: Sequence[Value], keywords: Mapping[str, Value]
) -> dict[str, Value]:
    """A call's arguments by parameter name. SourceError F208 or F506 if they do not fit."""
    bound: dict[str, Value] = {}
    rest = list(args)
    for parameter in signature.positional:
        if parameter.startswith("*"):
            if rest or parameter[1:] not in keywords:
                bound[parameter[1:]], rest = tuple(rest), []
        elif rest:
            bound[parameter] = rest.pop(0)
    if rest:
        ev.fail("F208", node, f"{name} with {len(args)} positional arguments is not supported")
    allowed = [p.removeprefix("*") for p in signature.positional] + list(signature.keywords)
    places = {k.arg: k.value for k in node.keywords}
    for key, value in keywords.items():
        if key not in allowed:
            ev.fail(
                "F506", places.get(key, node), f"{name} with `{key}=` is not supported", f"its arguments are {', '.join(allowed)}"
            )
        if key in bound:
            ev.fail("F208", places.get(key, node), f"{name} gets `{key}` twice")
        bound[key] = value
    missing = [p for p in signature.required if p.removeprefix("*") not in bound]
    if missing:
        ev.fail("F208", node, f"{name} needs {', '.join(missing)}")
    return bound
