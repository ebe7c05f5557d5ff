"""Computes float16 in float32: operands are cast, the operation is done in float32, and its result is rounded once.

With `products=kept`, matrix products of float16 stay: tensor cores and cuBLAS multiply such arrays, with sums in float32.

For targets that have float16 in memory and no arithmetic in it. NumPy's ufuncs do the same: convert, compute, round. Composites are
expanded, so that each of their steps is rounded as in the golden. What only moves elements stays in float16.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial

import numpy as np
from xdsl.dialects.builtin import f64
from xdsl.ir import Attribute, SSAValue

from fleet.errors import FleetError
from fleet.ir import dialect as d
from fleet.ir.build import make
from fleet.ir.constants import constant, constant_value
from fleet.ir.dialect import FleetOp, kind_of, op_id
from fleet.ir.expand import expand
from fleet.ir.operations.composite import CompositeOp
from fleet.ir.operations.operation import ElementwiseOp, attributes_of
from fleet.ir.types import is_tensor, numpy_dtype
from fleet.transforms.edit import Edit, identity
from fleet.transforms.passes import Pass

_HALF = np.dtype(np.float16)
_MOVING = (
    *(d.TransposeOp, d.ReshapeOp, d.BroadcastToOp, d.SliceOp, d.GatherOp, d.ConcatOp, d.PadOp, d.DimOp, d.WhereOp, d.CastOp),
    *(d.ConstantOp, d.CheckOp, d.ItemOp, d.ElementOp, d.PrintOp, d.RegionOp, d.NumpyOp),
)


def computes_in_half(op: FleetOp) -> bool:
    """Return whether the operation computes with elements of float16, instead of moving or casting them."""
    if isinstance(op, _MOVING) or (isinstance(op, d.ScatterOp) and attributes_of(op)["reduction"] == "none"):
        return False
    return any(_is_half(v.type) for v in (*op.operands, *op.results)) or _of_half_numbers(op)


def multiplies_halves(op: FleetOp) -> bool:
    """Return whether the operation is a matrix product of two arrays of float16."""
    return isinstance(op, d.MatmulOp) and all(map(_is_half, (v.type for v in op.operands)))


def _of_half_numbers(op: FleetOp) -> bool:
    """Return whether the operation computes with numbers of float16 and no tensor: `isnan` of the number in `fmax(1, x)`."""
    types = [v.type for v in op.operands]
    return isinstance(op, ElementwiseOp) and not any(map(is_tensor, types)) and any(numpy_dtype(t) == _HALF for t in types)


def _is_half(type_: Attribute) -> bool:
    return is_tensor(type_) and numpy_dtype(type_) == _HALF


def _apply(edit: Edit, *, products: bool) -> None:
    """products: whether matrix products are widened, too."""
    for op in edit.operations():
        if isinstance(op, CompositeOp) and computes_in_half(op):
            edit.expand(op, expand(op))
    wide: dict[SSAValue, SSAValue] = {}
    for op in edit.operations():
        if computes_in_half(op) and (products or not multiplies_halves(op)):
            _widen(edit, op, wide)


def _widen(edit: Edit, op: FleetOp, wide: dict[SSAValue, SSAValue]) -> None:
    """Replace an operation by the same one in float32. wide: value of float16 -> its cast."""
    dtypes = type(op).compute_types([v.type for v in op.operands]) if isinstance(op, ElementwiseOp) else ()
    given: list[SSAValue] = []
    numbers = _of_half_numbers(op)
    for i, value in enumerate(op.operands):
        if _is_half(value.type) or (numbers and numpy_dtype(value.type) == _HALF):
            if value not in wide:
                wide[value] = edit.insert_before(op, make("cast", [value], dtype="float32"), f"{op_id(op)}.operand")
            given.append(wide[value])
        elif i < len(dtypes) and dtypes[i] == _HALF and not is_tensor(value.type):
            given.append(_rounded(edit, op, value))
        else:
            given.append(value)
    new = make(kind_of(op), given, **attributes_of(op))
    if not _is_half(op.results[0].type):
        new.describe(**identity(op))
        edit.replace(op, edit.insert_before(op, new))
        return
    narrow = make("cast", [edit.insert_before(op, new, f"{op_id(op)}.wide")], dtype="float16")
    narrow.describe(**identity(op))
    edit.replace(op, edit.insert_before(op, narrow))


def _rounded(edit: Edit, op: FleetOp, number: SSAValue) -> SSAValue:
    """Return a Python number as NumPy takes it beside float16: rounded to it. It stays a number where it is known."""
    owner = number.owner
    if not isinstance(owner, d.ConstantOp):
        half = edit.insert_before(op, make("cast", [number], dtype="float16"), f"{op_id(op)}.number")
        return edit.insert_before(op, make("cast", [half], dtype="float32"), f"{op_id(op)}.operand")
    with np.errstate(over="ignore"):
        value = float(np.float16(constant_value(owner)))
    if value == constant_value(owner):
        return number
    return edit.insert_before(op, constant(value, f64), f"{op_id(op)}.number")


def PASS(options: Mapping[str, str]) -> Pass:
    """Return the pass. Rounding may change: NumPy may round a sum between its parts. Raises FleetError for another option."""
    if options not in ({}, {"products": "kept"}):
        given = ", ".join(f"{name}={value}" for name, value in sorted(options.items()))
        raise FleetError(f"pass widen-halves has no option {given}", hint="its one option is products=kept")
    summary = "compute float16 in float32, rounded after each operation"
    return Pass("widen-halves", summary, "rounding", partial(_apply, products=not options), adds_weights=False)
