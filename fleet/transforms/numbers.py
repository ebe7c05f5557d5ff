"""Numbers that are known when a program is compiled, and operations computed on them as the VM computes them."""

from __future__ import annotations

import operator
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np
from xdsl.ir import SSAValue

from fleet.ir.attributes import attributes_of
from fleet.ir.constants import constant_value
from fleet.ir.dialect import ConstantOp, FleetOp
from fleet.ir.promotion import BINARY, UNARY
from fleet.ir.types import is_tensor, numpy_dtype, shape_of

__all__ = ["MAX_FOLDED", "call_of", "compute", "computes", "known_number"]

MAX_FOLDED = 1 << 20
"""Elements of the largest array that folding of numbers fills to look at."""

_PYTHON: Mapping[str, Callable[..., Any]] = {
    "add": operator.add,
    "sub": operator.sub,
    "mul": operator.mul,
    "div": operator.truediv,
    "pow": operator.pow,
    "neg": operator.neg,
    "abs": abs,
    "floor_div": operator.floordiv,
    "mod": operator.mod,
    "less": operator.lt,
    "less_equal": operator.le,
    "greater": operator.gt,
    "greater_equal": operator.ge,
    "equal": operator.eq,
    "not_equal": operator.ne,
}
_UFUNCS: Mapping[str, np.ufunc] = {**BINARY, **{k: f for k, f in UNARY.items() if k not in ("rsqrt", "erf")}}
_PLAIN: Mapping[str, Callable[..., Any]] = {"matmul": np.matmul, "where": np.where}
_REDUCTIONS: Mapping[str, Callable[..., Any]] = {
    "reduce_sum": np.sum,
    "reduce_max": np.max,
    "reduce_min": np.min,
    "reduce_prod": np.prod,
    "reduce_any": np.any,
    "reduce_all": np.all,
    "mean": np.mean,
    "var": np.var,
}


def _take(x: Any, a: Mapping[str, Any]) -> Any:
    window: list[slice] = []
    for start, size, step in zip(a["start"], a["size"], a.get("step") or [1] * len(a["start"]), strict=True):
        end = start + size * step
        window.append(slice(start, end if end >= 0 else None, step))
    return x[tuple(window)]


_MOVEMENT: Mapping[str, Callable[..., Any]] = {
    "reshape": lambda x, a: np.reshape(x, a["shape"]),
    "broadcast_to": lambda x, a: np.broadcast_to(x, a["shape"]),
    "transpose": lambda x, a: np.transpose(x, a["permutation"]),
    "slice": _take,
}


def known_number(value: SSAValue) -> bool | int | float | None:
    """The number of a constant, scalar or filled tensor; None for any other value."""
    return constant_value(value.owner) if isinstance(value.owner, ConstantOp) else None


def computes(op: FleetOp) -> bool:
    """Whether `compute` knows the operation."""
    name = op.name.removeprefix("fleet.")
    return name in {*_UFUNCS, *_PLAIN, *_REDUCTIONS, *_MOVEMENT, "cast", "concat"}


def call_of(op: FleetOp) -> Callable[..., Any]:
    """What computes an operation of its operands' values (arrays, and Python numbers where the IR has them): the VM's call.

    The function does not hold the operation. It raises what NumPy or Python raise (ZeroDivisionError, OverflowError,
    ValueError). KeyError for an operation that `computes` does not know.
    """
    name, type_ = op.name.removeprefix("fleet."), op.results[0].type
    attributes = {"shape": shape_of(type_), **attributes_of(op)}
    weak = [not is_tensor(o.type) for o in op.operands]
    function = _function(name, is_tensor(type_), numpy_dtype(type_), attributes)

    def call(*operands: Any) -> Any:
        values = [np.asarray(v).item() if number else v for v, number in zip(operands, weak, strict=True)]
        with np.errstate(all="ignore"):
            return function(*values)

    return call


def _function(name: str, tensor: bool, dtype: np.dtype, attributes: Mapping[str, Any]) -> Callable[..., Any]:
    if not tensor and name in _PYTHON:
        return _PYTHON[name]
    if name in _UFUNCS:
        return _UFUNCS[name]
    if name in _PLAIN:
        return _PLAIN[name]
    if name == "cast":
        return (lambda x: x.astype(dtype)) if tensor else (lambda x: dtype.type(x).item())
    if name == "concat":
        return lambda *parts: np.concatenate(parts, attributes["axis"])
    if name in _MOVEMENT:
        return lambda x: _MOVEMENT[name](x, attributes)
    axes, keepdims = tuple(attributes["axes"]), attributes["keepdims"]
    return lambda x: _REDUCTIONS[name](x, axis=axes, keepdims=keepdims)


def compute(op: FleetOp, operands: Sequence[Any]) -> Any:
    """One operation on these values, see `call_of`."""
    return call_of(op)(*operands)
