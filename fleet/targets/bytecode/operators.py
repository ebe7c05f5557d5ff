"""What the VM's operators compute: a table from the operator's name to NumPy.

An entry takes the dispatch information once and gives the function that is called on every run. Plug-ins add entries
through the entry-point group `fleet.vm_operators` (name -> an `Operator`), or by a table handed to the VM.
"""

from __future__ import annotations

import operator
from collections.abc import Callable, Mapping, Sequence
from importlib.metadata import entry_points
from typing import Any, TypeAlias

import numpy as np

from fleet.errors import FleetError, ModelError
from fleet.ir.constants import constant_value
from fleet.ir.dialect import ConstantOp, FleetOp, PrintOp, op_id
from fleet.ir.types import is_tensor, numpy_dtype, shape_of
from fleet.targets.bytecode.hints import DispatchInfo, info_of, parse_type, sequence

__all__ = ["OPERATORS", "Kernel", "Operator", "apply", "kernel"]

Kernel: TypeAlias = Callable[..., Any]
Operator: TypeAlias = Callable[[DispatchInfo], Kernel]


def _elementwise(ufunc: Kernel, python: Kernel | None = None) -> Operator:
    """A ufunc; of Python numbers, Python's operator: its result stays a number (NEP 50: weak)."""

    def make(info: DispatchInfo) -> Kernel:
        return python if python is not None and info.python_result else ufunc

    return make


def _reduction(function: Kernel) -> Operator:
    def make(info: DispatchInfo) -> Kernel:
        axes, keepdims = sequence(info.attrs, "axes"), bool(info.attrs.get("keepdims", False))
        return lambda x: function(x, axis=axes, keepdims=keepdims)

    return make


def _argmax(info: DispatchInfo) -> Kernel:
    axis = info.attrs["axis"]
    return lambda x: np.argmax(x, axis)


def _transpose(info: DispatchInfo) -> Kernel:
    permutation = sequence(info.attrs, "permutation")
    return lambda x: np.transpose(x, permutation)


def _reshape(info: DispatchInfo) -> Kernel:
    shape, _ = parse_type(info.out_types[0])
    return lambda x: np.reshape(x, shape)


def _slice(info: DispatchInfo) -> Kernel:
    starts, sizes = sequence(info.attrs, "start"), sequence(info.attrs, "size")
    window = tuple(slice(a, a + n) for a, n in zip(starts, sizes, strict=True))
    return lambda x: x[window]


def _concat(info: DispatchInfo) -> Kernel:
    axis = info.attrs["axis"]
    return lambda *parts: np.concatenate(parts, axis)


def _cast(info: DispatchInfo) -> Kernel:
    _, dtype = parse_type(info.out_types[0])
    if info.python_result:
        return lambda x: dtype.type(x).item()
    return lambda x: x.astype(dtype)


def _splat(info: DispatchInfo) -> Kernel:
    shape, dtype = parse_type(info.out_types[0])
    return lambda x: np.full(shape, x, dtype)


OPERATORS: dict[str, Operator] = {
    "add": _elementwise(np.add, operator.add),
    "sub": _elementwise(np.subtract, operator.sub),
    "mul": _elementwise(np.multiply, operator.mul),
    "div": _elementwise(np.divide, operator.truediv),
    "pow": _elementwise(np.power, operator.pow),
    "neg": _elementwise(np.negative, operator.neg),
    "abs": _elementwise(np.absolute, abs),
    "maximum": _elementwise(np.maximum),
    "minimum": _elementwise(np.minimum),
    "sqrt": _elementwise(np.sqrt),
    "exp": _elementwise(np.exp),
    "log": _elementwise(np.log),
    "tanh": _elementwise(np.tanh),
    "matmul": _elementwise(np.matmul),
    "reduce_sum": _reduction(np.sum),
    "reduce_max": _reduction(np.max),
    "max": _reduction(np.max),
    "mean": _reduction(np.mean),
    "var": _reduction(np.var),
    "argmax": _argmax,
    "transpose": _transpose,
    "reshape": _reshape,
    "slice": _slice,
    "gather": _elementwise(operator.getitem),
    "concat": _concat,
    "cast": _cast,
    "splat": _splat,
    "print": lambda _info: print,
}
"""The operators of the project. `splat` and `max` are for bytecode of the seeds; our converter does not emit them."""

ENTRY_POINTS = "fleet.vm_operators"


def kernel(info: DispatchInfo, operators: Mapping[str, Operator] | None = None) -> Kernel:
    """The function for a dispatch: from `operators` first, then the project's table, then plug-ins.

    Raises ModelError for an operator that nobody has or an attribute that it lacks.
    """
    make = (operators or {}).get(info.name) or OPERATORS.get(info.name) or _plugin(info.name)
    if make is None:
        raise ModelError(f"the VM has no operator {info.name}", hint=f"it has {', '.join(sorted(OPERATORS))}")
    try:
        return make(info)
    except (KeyError, IndexError, ValueError, TypeError) as error:
        raise ModelError(
            f"operator {info.name} cannot take its attributes {info.attrs} ({type(error).__name__}: {error})"
        ) from error


def _plugin(name: str) -> Operator | None:
    for point in entry_points(group=ENTRY_POINTS, name=name):
        try:
            return point.load()
        except Exception as error:
            raise ModelError(f"VM operator {name} of {point.value} cannot be loaded ({error})") from error
    return None


def apply(op: FleetOp, operands: Sequence[np.ndarray]) -> np.ndarray:
    """Evaluates ONE operation of the IR on these operands, with the VM's own table.

    `operands` have the shapes of the operation's operands; their dtypes are taken as they are, except that operands
    which the IR has as Python numbers act as Python numbers. The result has the IR's dtype where the IR has a Python
    number, else what NumPy gives. Raises ModelError naming the operation.
    """
    if isinstance(op, ConstantOp):
        return np.full(shape_of(op.result.type), constant_value(op), numpy_dtype(op.result.type))
    if isinstance(op, PrintOp):
        raise ModelError("print has no value", where=op_id(op))
    values = [v if is_tensor(o.type) else np.asarray(v).item() for v, o in zip(operands, op.operands, strict=True)]
    try:
        with np.errstate(all="ignore"):
            result = kernel(info_of(op))(*values)
    except FleetError:
        raise
    except Exception as error:
        raise ModelError(f"{op.name.removeprefix('fleet.')}: {error}", where=op_id(op)) from error
    type_ = op.results[0].type
    return np.asarray(result) if is_tensor(type_) else np.asarray(result, numpy_dtype(type_))
