"""Evaluate a program in more precision than its own: all floats in float64, or in longdouble.

The operations, their order and the numbers that the program states stay unchanged. A Python number takes the dtype of the array
that it meets, and a cast to a narrower float rounds, because both are what the program means. Nothing else is rounded to the
program's dtypes.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Collection, Mapping
from functools import partial
from typing import TypeAlias

import numpy as np
from xdsl.ir import BlockArgument, SSAValue

from fleet.compare.judges.wide_linalg import WIDE
from fleet.compare.rules.steps import Array
from fleet.errors import ComparisonFailure
from fleet.ir import dialect as d
from fleet.ir.dialect import FleetOp, kind_of, op_id
from fleet.ir.library.call import CallOperand, LibraryCall
from fleet.ir.operations.operation import attributes_of
from fleet.ir.program import Program
from fleet.ir.types import is_tensor, numpy_dtype
from fleet.targets.bytecode.evaluate import EvaluationStep, prepare, prepare_bodies

_AS_THEY_ARE = (d.GatherOp, d.ScatterOp, d.WhereOp, d.DynamicReshapeOp, d.DynamicBroadcastOp, d.DynamicSliceOp, d.ArangeOp, d.TriOp)
"""Operations that read an integer operand as an integer, whatever their result dtype."""

_NO_LONGDOUBLE = (d.ErfOp, d.GeluOp, d.AttentionOp)
"""Operations that the VM computes with tables in float64."""


def widest(dtype: np.dtype) -> np.dtype | None:
    """Return the dtype of a reference evaluation for floats of `dtype`, or None if this machine has none with more precision."""
    found = np.dtype(np.longdouble if dtype.itemsize >= 8 else np.float64)
    return found if np.finfo(found).nmant > np.finfo(dtype).nmant else None


Change: TypeAlias = Callable[[FleetOp, Array], Array]
"""Returns what an operation's result counts as; called with each one, in the bodies of loops and decisions too."""


PreparedSteps: TypeAlias = dict[FleetOp, EvaluationStep]
"""Operations prepared for one dtype, without any change: who evaluates a program several times prepares them once."""


def evaluate(
    program: Program,
    arguments: Mapping[str, Array],
    keep: Collection[str],
    dtype: np.dtype,
    change: Change | None = None,
    steps: PreparedSteps | None = None,
) -> dict[str, Array]:
    """Return operation id -> value, for the operations of `keep`. Values are dropped after their last use.

    Args:
        arguments: each input and weight; floats in `dtype`, everything else in the program's dtype.
        dtype: float64 or longdouble.
        change: applied to each result, or None.
        steps: filled and read here; of other evaluations of this program in `dtype`.

    Raises:
        FleetError: an operation cannot be computed in `dtype`.
    """
    steps = {} if steps is None else steps
    values: dict[SSAValue, Array] = {}
    operations = list(program.operations())
    left = Counter(v for op in operations for v in op.operands)
    kept: dict[str, Array] = {}
    for op in operations:
        if not op.results or isinstance(op, d.PrintOp):
            continue
        with np.errstate(all="ignore"):
            values[op.results[0]] = found = _prepare(op, dtype, change, steps)(
                [_value(program, arguments, values, v) for v in op.operands]
            )
        if op_id(op) in keep and not isinstance(op, d.RegionOp):
            kept[op_id(op)] = found
        for operand in op.operands:
            left[operand] -= 1
            if not left[operand]:
                values.pop(operand, None)
    return kept


def _prepare(op: FleetOp, dtype: np.dtype, change: Change | None, steps: PreparedSteps) -> EvaluationStep:
    """Prepare an operation for operands as evaluated here; bodies are evaluated in `dtype` and changed too."""
    if isinstance(op, d.RegionOp):
        return prepare_bodies(op, partial(_prepare, dtype=dtype, change=change, steps=steps))
    step = steps.get(op)
    if step is None:
        step = steps[op] = _prepare_plain(op, dtype)
    if change is None or not op.results:
        return step
    return lambda operands: change(op, step(operands))


def _prepare_plain(op: FleetOp, dtype: np.dtype) -> EvaluationStep:
    if isinstance(op, d.ElementOp):
        attributes = attributes_of(op)
        return lambda operands: np.asarray(op.compute(operands, attributes))
    if dtype.itemsize > 8 and isinstance(op, _NO_LONGDOUBLE):
        raise ComparisonFailure(f"{kind_of(op)} has no longdouble", where=op_id(op))
    compute = _prepare_result(op, dtype)
    return lambda operands: compute([_taken(op, v, np.asarray(x), dtype) for v, x in zip(op.operands, operands, strict=True)])


def _value(program: Program, arguments: Mapping[str, Array], values: Mapping[SSAValue, Array], value: SSAValue) -> Array:
    return arguments[program.arguments[value.index].name] if isinstance(value, BlockArgument) else values[value]


def _taken(op: FleetOp, operand: SSAValue, value: Array, dtype: np.dtype) -> Array:
    """Return an operand as the operation reads it: in `dtype` if it counts as a float."""
    own = numpy_dtype(operand.type)
    if not is_tensor(operand.type):
        met = [numpy_dtype(v.type) for v in op.operands if is_tensor(v.type)]
        floats = [t for t in met if t.kind == "f"] or ([numpy_dtype(op.results[0].type)] if met else [])
        if own.kind == "f" and floats and floats[0].kind == "f":
            return np.asarray(value, np.result_type(*floats)).astype(dtype)
        return value
    gives_float = numpy_dtype(op.results[0].type).kind == "f"
    if own.kind in "iu" and gives_float and not isinstance(op, _AS_THEY_ARE):
        return value.astype(dtype)
    return value


def _prepare_result(op: FleetOp, dtype: np.dtype) -> EvaluationStep:
    """Prepare one operation; a float result is in `dtype`, every other one in the program's dtype."""
    type_ = op.results[0].type
    own = numpy_dtype(type_)
    is_float = own.kind == "f" and is_tensor(type_)
    if isinstance(op, d.CastOp) and is_float:
        source = numpy_dtype(op.operands[0].type)
        narrower = source.kind == "f" and np.finfo(own).nmant < np.finfo(source).nmant
        return lambda operands: (operands[0].astype(own) if narrower else operands[0]).astype(dtype)
    compute = _wide_call(op) if isinstance(op, d.NumpyOp) and dtype.itemsize > 8 else None
    compute = compute or prepare(op)
    return lambda operands: compute(operands).astype(dtype if is_float else own, copy=False)


def _wide_call(op: d.NumpyOp) -> EvaluationStep | None:
    """A call of a factorisation of NumPy, in the dtype of its operands; None for other calls, and for some arguments."""
    call = LibraryCall.parse(op.call.data)
    places = [a.index for a in call.arguments if isinstance(a, CallOperand)]
    if call.function not in WIDE or call.keywords or len(places) != len(call.arguments):
        return None
    return lambda operands: np.asarray(WIDE[call.function](*(np.asarray(operands[i]) for i in places)))
