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
from fleet.ir.infer import BINARY, UNARY
from fleet.ir.types import is_tensor, numpy_dtype, shape_of

__all__ = ["MAX_FOLDED", "compute", "computes", "known_number"]

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
}
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
    return name in BINARY or name in UNARY or name in _REDUCTIONS or name in _MOVEMENT or name in ("cast", "where", "matmul")


def compute(op: FleetOp, operands: Sequence[Any]) -> Any:
    """One operation on arrays (and Python numbers where the IR has them): the call that the VM makes.

    Raises what NumPy or Python raise (ZeroDivisionError, OverflowError, ValueError); KeyError for an operation not known.
    """
    name = op.name.removeprefix("fleet.")
    type_ = op.results[0].type
    values = [v if is_tensor(o.type) else np.asarray(v).item() for v, o in zip(operands, op.operands, strict=True)]
    with np.errstate(all="ignore"):
        if not is_tensor(type_) and name in _PYTHON:
            return _PYTHON[name](*values)
        if (ufunc := BINARY.get(name) or UNARY.get(name)) is not None:
            return ufunc(*values)
        if name == "matmul":
            return np.matmul(*values)
        if name == "where":
            return np.where(*values)
        if name == "cast":
            dtype = numpy_dtype(type_)
            return values[0].astype(dtype) if is_tensor(type_) else dtype.type(values[0]).item()
        attributes = {"shape": shape_of(type_), **attributes_of(op)}
        if name in _MOVEMENT:
            return _MOVEMENT[name](values[0], attributes)
        return _REDUCTIONS[name](values[0], axis=tuple(attributes["axes"]), keepdims=attributes["keepdims"])
