"""The VM's operators: a table from the operator's name to NumPy.

An entry takes the dispatch information once and returns the function that is called on every run. Plug-ins add entries through the
entry-point group `fleet.vm_operators` (name -> an `Operator`), or in a table passed to the VM.
"""

from __future__ import annotations

import operator
from collections.abc import Callable, Mapping
from functools import partial
from operator import methodcaller
from typing import Any, TypeAlias, cast

import numpy as np

from fleet.core.plugins import installed, load_plugin
from fleet.errors import ModelError
from fleet.ir import dialect as d
from fleet.ir.dialect import FleetOp, kind_of
from fleet.targets.bytecode.erf import erf
from fleet.targets.bytecode.hints import DispatchInfo, sequence
from fleet.targets.bytecode.kernels.composite import COMPOSITES
from fleet.targets.bytecode.kernels.library import library
from fleet.targets.bytecode.kernels.movement import MOVEMENT, splat
from fleet.targets.bytecode.kernels.products import matmul
from fleet.targets.bytecode.kernels.sized import SIZED

OperatorKernel: TypeAlias = Callable[..., Any]
Operator: TypeAlias = Callable[[DispatchInfo], OperatorKernel]


def _elementwise(ufunc: OperatorKernel, python: OperatorKernel | None = None) -> Operator:
    """Make an operator from a ufunc; for Python numbers from Python's operator, whose result stays a number (NEP 50: weak)."""

    def make(info: DispatchInfo) -> OperatorKernel:
        return python if python is not None and info.python_result else ufunc

    return make


def _power(info: DispatchInfo) -> OperatorKernel:
    """Return np.power; for NumPy scalars `**`, which unlike the ufunc takes no root for an exponent of 0.5."""
    if info.python_result:
        return operator.pow
    scalar = all("x" not in t for t in info.out_types)
    return (lambda a, b: operator.pow(_scalar(a), _scalar(b))) if scalar else np.power


def _matmul(info: DispatchInfo) -> OperatorKernel:
    """Return np.matmul; for int32 the compiled one, which gives the same bits."""
    return matmul if info.out_types and info.out_types[0].endswith("i32") else np.matmul


def _scalar(value: Any) -> Any:
    return value[()] if isinstance(value, np.ndarray) else value


def _reduction(ufunc: np.ufunc) -> Operator:
    """Make the reduction that `numpy.sum`, `max` ... call after their own Python; a partial, so that a run calls only NumPy."""

    def make(info: DispatchInfo) -> OperatorKernel:
        return partial(ufunc.reduce, axis=_axes(info), keepdims=_keepdims(info))

    return make


def _moment(method: str) -> Operator:
    """Make mean or var."""

    def make(info: DispatchInfo) -> OperatorKernel:
        return methodcaller(method, axis=_axes(info), keepdims=_keepdims(info))

    return make


def _keepdims(info: DispatchInfo) -> bool:
    return bool(info.attrs.get("keepdims", info.attrs.get("keep_dims", False)))


def _axes(info: DispatchInfo) -> tuple[int, ...] | None:
    """Return the reduced axes. Fleet writes `axes`, missing means none; the seeds' bytecode has `axis`, missing means all.

    Without reduced axes the shape stays, but the dtype may change: a sum of int32 is int64.
    """
    for key in ("axes", "axis"):
        if key in info.attrs:
            return sequence(info.attrs, key)
    before, after = ([t.rpartition("x")[0] for t in types] for types in (info.in_types, info.out_types))
    return () if before == after else None


def _along(method: str) -> Operator:
    """Make an operator from a method with one axis."""
    return lambda info: methodcaller(method, info.attrs["axis"])


def _rsqrt(x: Any) -> Any:
    return 1 / np.sqrt(x)


def _computed(op: type[d.ValueOp]) -> Operator:
    """Make an operator from the operation's own `compute`."""
    return lambda info: lambda *values: op.compute(values, info.attrs)


def _identity(value: Any) -> Any:
    """Return the value: in bytecode a decision or loop consists of jumps, and a part of its result is in a slot."""
    return value


RULES: Mapping[type[FleetOp], Operator] = {
    **{op: _elementwise(op.NUMPY, op.PYTHON) for op in d.OPERATIONS.values() if issubclass(op, d.ElementwiseOp) and op.NUMPY},
    d.MatmulOp: _matmul,
    d.PowOp: _power,
    d.RsqrtOp: _elementwise(_rsqrt),
    d.ErfOp: _elementwise(erf),
    d.ReduceSumOp: _reduction(np.add),
    d.ReduceProdOp: _reduction(np.multiply),
    d.ReduceMaxOp: _reduction(np.maximum),
    d.ReduceMinOp: _reduction(np.minimum),
    d.NanMaxOp: _reduction(np.fmax),
    d.NanMinOp: _reduction(np.fmin),
    d.ReduceAnyOp: _reduction(np.logical_or),
    d.ReduceAllOp: _reduction(np.logical_and),
    d.MeanOp: _moment("mean"),
    d.VarOp: _moment("var"),
    d.ArgmaxOp: _along("argmax"),
    d.ArgminOp: _along("argmin"),
    d.CumsumOp: _along("cumsum"),
    d.ArgsortOp: lambda info: methodcaller("argsort", info.attrs["axis"], kind="stable"),
    **MOVEMENT,
    **SIZED,
    **COMPOSITES,
    d.NumpyOp: library,
    **{op: _computed(op) for op in (d.CheckOp, d.ItemOp, d.ScatterOp, d.EinsumOp)},
    d.ElementOp: lambda _info: _identity,
    d.PrintOp: lambda _info: print,
}
"""Operation -> its operator. NumPy functions use NumPy itself unless listed."""

OPERATORS: dict[str, Operator] = {
    **{kind_of(op): rule for op, rule in RULES.items()}, "max": _reduction(np.maximum), "splat": splat,
}  # fmt: skip
"""The project's operators. `splat` and `max` are for the seeds' bytecode; fleet's converter does not emit them."""

ENTRY_POINTS = "fleet.vm_operators"


def kernel(info: DispatchInfo, operators: Mapping[str, Operator] | None = None) -> OperatorKernel:
    """Return the function for a dispatch: from `operators` first, then the project's table, then plug-ins.

    Raises ModelError if the operator is unknown or lacks an attribute.
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
    for point in installed(ENTRY_POINTS, name):
        return cast("Operator", load_plugin(point, "VM operator"))
    return None
