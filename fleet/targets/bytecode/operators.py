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
from xdsl.ir import Block, SSAValue

from fleet.core.plugins import load_plugin
from fleet.errors import FleetError, ModelError
from fleet.ir import dialect as d
from fleet.ir.constants import constant_value
from fleet.ir.dialect import ConstantOp, FleetOp, PrintOp, kind_of, op_id
from fleet.ir.operation import attributes_of
from fleet.ir.types import is_tensor, numpy_dtype, shape_of
from fleet.targets.bytecode.erf import erf
from fleet.targets.bytecode.hints import DispatchInfo, info_of, sequence
from fleet.targets.bytecode.operators_composite import COMPOSITES
from fleet.targets.bytecode.operators_library import library
from fleet.targets.bytecode.operators_movement import MOVEMENT, splat
from fleet.targets.bytecode.operators_sized import SIZED

__all__ = ["OPERATORS", "RULES", "Kernel", "Operator", "apply", "kernel"]

Kernel: TypeAlias = Callable[..., Any]
Operator: TypeAlias = Callable[[DispatchInfo], Kernel]
Echo: TypeAlias = Callable[[PrintOp, Sequence[Any]], None]


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


def _number(kind: Callable[[Any], Any], value: Any) -> Any:
    return kind(np.asarray(value).item())


def _identity(value: Any) -> Any:
    """A part of a decision's or loop's result: in bytecode these are jumps, and the part stands in a slot."""
    return value


RULES: Mapping[type[FleetOp], Operator] = {
    **{op: _elementwise(op.NUMPY, op.PYTHON) for op in d.OPERATIONS.values() if issubclass(op, d.ElementwiseOp) and op.NUMPY},
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
    d.ItemOp: lambda info: partial(_number, {"int": int, "float": float, "bool": bool}[info.attrs["number"]]),
    d.ElementOp: lambda _info: _identity,
    d.PrintOp: lambda _info: print,
}
"""Operation -> its operator: of NumPy's functions NumPy's own, where nothing else is said."""

OPERATORS: dict[str, Operator] = {
    **{kind_of(op): rule for op, rule in RULES.items()}, "max": _reduction(np.maximum), "splat": splat,
}  # fmt: skip
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


def run_body(
    block: Block, arguments: Sequence[Any], *, evaluate: Callable[[FleetOp, Sequence[Any]], Any], echo: Echo | None = None
) -> Sequence[Any]:
    """What a body of a decision or loop gives for these arguments.

    evaluate: of one operation on its operands. echo: called with every print and its operands; None: prints are left out.
    """
    values: dict[SSAValue, Any] = dict(zip(block.args, arguments, strict=True))
    for op in block.ops:
        if isinstance(op, PrintOp):
            if echo is not None:
                echo(op, [values[v] for v in op.operands])
        elif isinstance(op, FleetOp):
            values[op.results[0]] = evaluate(op, [values[v] for v in op.operands])
    last = block.last_op
    assert isinstance(last, d.YieldOp)
    return [values[v] for v in last.operands]


def apply(op: FleetOp, operands: Sequence[Any], echo: Echo | None = None) -> Any:
    """Evaluates ONE operation of the IR on these operands, with the VM's own table.

    `operands` have the shapes of the operation's operands; their dtypes are taken as they are, except that operands
    which the IR has as Python numbers act as Python numbers. The result has the IR's dtype where the IR has a Python
    number, else what NumPy gives; of a decision or loop it is a tuple, and echo gets the prints in it (None: left out).
    Raises ModelError naming the operation.
    """
    if isinstance(op, ConstantOp):
        return np.full(shape_of(op.result.type), constant_value(op), numpy_dtype(op.result.type))
    if isinstance(op, PrintOp):
        raise ModelError("print has no value", where=op_id(op))
    if isinstance(op, d.RegionOp):
        return d.run_regions(op, operands, partial(run_body, evaluate=partial(apply, echo=echo), echo=echo))
    if isinstance(op, d.ElementOp):
        return op.compute(operands, attributes_of(op))
    values = [v if is_tensor(o.type) else np.asarray(v).item() for v, o in zip(operands, op.operands, strict=True)]
    try:
        with np.errstate(all="ignore"):
            result = kernel(info_of(op))(*values)
    except FleetError:
        raise
    except Exception as error:
        raise ModelError(f"{kind_of(op)}: {error}", where=op_id(op)) from error
    type_ = op.results[0].type
    return np.asarray(result) if is_tensor(type_) else np.asarray(result, numpy_dtype(type_))
