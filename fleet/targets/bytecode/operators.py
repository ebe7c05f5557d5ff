"""What the VM's operators compute: a table from the operator's name to NumPy.

An entry takes the dispatch information once and gives the function that is called on every run. Plug-ins add entries
through the entry-point group `fleet.vm_operators` (name -> an `Operator`), or by a table handed to the VM.
"""

from __future__ import annotations

import operator
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from importlib.metadata import entry_points
from operator import methodcaller
from typing import Any, TypeAlias, cast

import numpy as np

from fleet.core.plugins import load_plugin
from fleet.errors import FleetError, ModelError
from fleet.ir.constants import constant_value
from fleet.ir.dialect import ConstantOp, FleetOp, PrintOp, op_id
from fleet.ir.types import is_tensor, numpy_dtype, shape_of
from fleet.targets.bytecode.erf import erf
from fleet.targets.bytecode.hints import DispatchInfo, info_of, sequence
from fleet.targets.bytecode.operators_composite import COMPOSITES
from fleet.targets.bytecode.operators_movement import MOVEMENT
from fleet.targets.bytecode.operators_sized import SIZED

__all__ = ["OPERATORS", "Kernel", "Operator", "apply", "kernel"]

Kernel: TypeAlias = Callable[..., Any]
Operator: TypeAlias = Callable[[DispatchInfo], Kernel]


def _elementwise(ufunc: Kernel, python: Kernel | None = None) -> Operator:
    """A ufunc; of Python numbers, Python's operator: its result stays a number (NEP 50: weak)."""

    def make(info: DispatchInfo) -> Kernel:
        return python if python is not None and info.python_result else ufunc

    return make


def _power(info: DispatchInfo) -> Kernel:
    """np.power; of NumPy scalars `**`, which unlike the ufunc computes no root for an exponent of 0.5."""
    if info.python_result:
        return operator.pow
    scalar = all("x" not in t for t in info.out_types)
    return (lambda a, b: operator.pow(_scalar(a), _scalar(b))) if scalar else np.power


def _scalar(value: Any) -> Any:
    return value[()] if isinstance(value, np.ndarray) else value


def _reduction(ufunc: np.ufunc) -> Operator:
    """What `numpy.sum`, `max` ... do after their own Python; a partial, so that a run calls NumPy and nothing else."""

    def make(info: DispatchInfo) -> Kernel:
        return partial(ufunc.reduce, axis=_axes(info), keepdims=_keepdims(info))

    return make


def _moment(method: str) -> Operator:
    """mean and var."""

    def make(info: DispatchInfo) -> Kernel:
        return methodcaller(method, axis=_axes(info), keepdims=_keepdims(info))

    return make


def _keepdims(info: DispatchInfo) -> bool:
    return bool(info.attrs.get("keepdims", info.attrs.get("keep_dims", False)))


def _axes(info: DispatchInfo) -> tuple[int, ...] | None:
    """Ours are `axes`, none of them when it is missing; bytecode of the seeds says `axis`, and means all when it is missing.

    Where none is reduced the shape stays; the dtype may not: a sum of int32 is int64.
    """
    for key in ("axes", "axis"):
        if key in info.attrs:
            return sequence(info.attrs, key)
    before, after = ([t.rpartition("x")[0] for t in types] for types in (info.in_types, info.out_types))
    return () if before == after else None


def _along(method: str) -> Operator:
    """A method with one axis."""
    return lambda info: methodcaller(method, info.attrs["axis"])


def _rsqrt(x: Any) -> Any:
    return 1 / np.sqrt(x)


OPERATORS: dict[str, Operator] = {
    "add": _elementwise(np.add, operator.add),
    "sub": _elementwise(np.subtract, operator.sub),
    "mul": _elementwise(np.multiply, operator.mul),
    "div": _elementwise(np.divide, operator.truediv),
    "pow": _power,
    "floor_div": _elementwise(np.floor_divide, operator.floordiv),
    "mod": _elementwise(np.remainder, operator.mod),
    "less": _elementwise(np.less, operator.lt),
    "less_equal": _elementwise(np.less_equal, operator.le),
    "greater": _elementwise(np.greater, operator.gt),
    "greater_equal": _elementwise(np.greater_equal, operator.ge),
    "equal": _elementwise(np.equal, operator.eq),
    "not_equal": _elementwise(np.not_equal, operator.ne),
    "neg": _elementwise(np.negative, operator.neg),
    "abs": _elementwise(np.absolute, abs),
    "maximum": _elementwise(np.maximum),
    "minimum": _elementwise(np.minimum),
    "logical_and": _elementwise(np.logical_and),
    "logical_or": _elementwise(np.logical_or),
    "logical_not": _elementwise(np.logical_not),
    "bitwise_and": _elementwise(np.bitwise_and),
    "bitwise_or": _elementwise(np.bitwise_or),
    "bitwise_xor": _elementwise(np.bitwise_xor),
    "isnan": _elementwise(np.isnan),
    "where": _elementwise(np.where),
    "sqrt": _elementwise(np.sqrt),
    "rsqrt": _elementwise(_rsqrt),
    "exp": _elementwise(np.exp),
    "expm1": _elementwise(np.expm1),
    "log": _elementwise(np.log),
    "log1p": _elementwise(np.log1p),
    "tanh": _elementwise(np.tanh),
    "erf": _elementwise(erf),
    "sin": _elementwise(np.sin),
    "cos": _elementwise(np.cos),
    "log2": _elementwise(np.log2),
    "log10": _elementwise(np.log10),
    "exp2": _elementwise(np.exp2),
    "sinh": _elementwise(np.sinh),
    "cosh": _elementwise(np.cosh),
    "tan": _elementwise(np.tan),
    "hypot": _elementwise(np.hypot),
    "logaddexp": _elementwise(np.logaddexp),
    "fmax": _elementwise(np.fmax),
    "fmin": _elementwise(np.fmin),
    "clip": _elementwise(np.clip),
    "floor": _elementwise(np.floor),
    "ceil": _elementwise(np.ceil),
    "rint": _elementwise(np.rint),
    "sign": _elementwise(np.sign),
    "matmul": _elementwise(np.matmul),
    "reduce_sum": _reduction(np.add),
    "reduce_prod": _reduction(np.multiply),
    "reduce_max": _reduction(np.maximum),
    "reduce_min": _reduction(np.minimum),
    "nan_max": _reduction(np.fmax),
    "nan_min": _reduction(np.fmin),
    "reduce_any": _reduction(np.logical_or),
    "reduce_all": _reduction(np.logical_and),
    "max": _reduction(np.maximum),
    "mean": _moment("mean"),
    "var": _moment("var"),
    "argmax": _along("argmax"),
    "argmin": _along("argmin"),
    "cumsum": _along("cumsum"),
    "argsort": lambda info: methodcaller("argsort", info.attrs["axis"], kind="stable"),
    **MOVEMENT,
    **SIZED,
    **COMPOSITES,
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
        return cast("Operator", load_plugin(point, "VM operator"))
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
