"""Calls of NumPy's functions as sequences of operations, for targets that cannot call NumPy: one rule per function."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from xdsl.ir import SSAValue

from fleet.ir.expansion import Expansion
from fleet.ir.library import elements, products, reductions, series
from fleet.ir.library.arrays import Array, array_of
from fleet.ir.library.call import CallOperand, LibraryCall
from fleet.ir.library.moves import MOVING, moved, moves
from fleet.ir.library.record import NumpyOp
from fleet.ir.library.ufuncs import UFUNCS, ufunc
from fleet.ir.shapes import InferenceError
from fleet.ir.types import numpy_dtype, shape_of

RULES: Mapping[str, Any] = {**elements.RULES, **products.RULES, **reductions.RULES, **series.RULES}
"""Function -> rule that returns its arrays, given the expansion and its arguments by name. Ufuncs have their own rules."""


_ARRAYS = frozenset({"a", "b", "x", "y", "x1", "x2", "m", "f", "ary", "element", "weights", "where", "mean", "sorter"})
"""Parameters that are arrays; a list is taken as one."""
_AS_OUT = frozenset({"sum", "prod", "mean", "cumsum", "cumprod"})
"""Functions that compute in the dtype of the array that receives their result."""


def expand_call(s: Expansion, op: NumpyOp, attributes: Mapping[str, Any]) -> SSAValue | None:
    """Return the operation's result; None for a call without a rule. Raises InferenceError for unknown dimensions."""
    call = LibraryCall.parse(attributes["call"])
    arrays = [Array(s, v) for v in op.operands]
    rule = RULES.get(call.function)
    type_ = op.results[0].type
    output = int(attributes.get("output") or 0)
    if moves(call, arrays):
        return moved(s, call, arrays, numpy_dtype(type_), output).value
    if rule is None:
        values = [_given(a, arrays) for a in call.arguments]
        if "." not in call.function:
            values = [array_of(s, v) if isinstance(v, list | tuple) else v for v in values]
        found = ufunc(call, values, {k: _given(v, arrays) for k, v in call.keywords})
    else:
        given = {k: _given(v, arrays) for k, v in call.bound().items()}
        given |= {k: array_of(s, v) for k, v in given.items() if k in _ARRAYS and isinstance(v, list | tuple)}
        if (out := given.pop("out", None)) is not None and call.function in _AS_OUT:
            given.setdefault("dtype", out.dtype)
        found = rule(s, **given)
    if found is None:
        return None
    parts = found if isinstance(found, list | tuple) else [found]
    result = parts[output].astype(numpy_dtype(type_))
    if result.shape != shape_of(type_):
        raise InferenceError(f"{call}: its sequence gives {result.shape}, NumPy {shape_of(type_)}")
    return result.value


def has_sequence(function: str) -> bool:
    """Return whether calls of the function have a sequence, at least for the usual arguments."""
    return function in RULES or function in MOVING or function in UFUNCS


def _given(value: Any, arrays: list[Array]) -> Any:
    if isinstance(value, CallOperand):
        return arrays[value.index]
    if isinstance(value, tuple | list):
        return type(value)(_given(v, arrays) for v in value)  # pyright: ignore[reportUnknownVariableType, reportUnknownArgumentType]
    return value
