"""Products of quantised tensors in integers: `(sx * (x - zx)) @ (sw * w)` becomes `(sx * sw) * (x @ w - zx * sum(w))`.

A model with QuantizeLinear and DequantizeLinear around its products keeps its own codes and scales so: INT8 codes of activations
and weights are multiplied as they are, sums are exact in int32, and the scales, one a column of the weight, multiply the sums.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from xdsl.ir import SSAValue

from fleet.ir import dialect as d
from fleet.ir.build import make
from fleet.ir.constants import constant
from fleet.ir.dialect import FleetOp, kind_of, op_id
from fleet.ir.operation import attributes_of
from fleet.ir.types import numpy_dtype, shape_of, tensor_type
from fleet.ir.weights import Derived
from fleet.transforms.edit import Edit, identity
from fleet.transforms.numbers import compute
from fleet.transforms.passes import plain
from fleet.transforms.raising.masks import known_array
from fleet.transforms.turn_products import of_weights

__all__ = ["PASS"]

_INT8 = np.dtype(np.int8)
_MOVES = (d.ReshapeOp, d.TransposeOp, d.SliceOp, d.GatherOp, d.PadOp)


class _Activation(NamedTuple):
    """Codes of an activation (int8 or uint8), what moved them afterwards (last first), zero point and scale."""

    codes: SSAValue
    moves: tuple[FleetOp, ...]
    zero: int
    scale: float


class _Weight(NamedTuple):
    """codes: int8 [inputs, outputs]; scales: float32 [outputs]."""

    codes: np.ndarray
    scales: np.ndarray


def _apply(edit: Edit) -> None:
    changed = False
    known: dict[SSAValue, bool] = {}
    for op in edit.operations():
        if not isinstance(op, d.MatmulOp) or numpy_dtype(op.result.type) != np.float32 or len(shape_of(op.rhs.type)) != 2:
            continue
        if len(shape_of(op.lhs.type)) < 2 or -1 in shape_of(op.lhs.type) or not of_weights(edit, op.rhs, known):
            continue
        weight, activation = _weight(edit, op.rhs), _activation(edit, op.lhs)
        if weight is not None and activation is not None:
            _rewrite(edit, op, activation, weight)
            changed = True
    if changed:
        edit.sweep()


def _scaled(op: Any) -> tuple[SSAValue, SSAValue] | None:
    """(integers, scale) of `cast(integers) * scale`."""
    if not isinstance(op, d.MulOp):
        return None
    for value, scale in ((op.lhs, op.rhs), (op.rhs, op.lhs)):
        cast = value.owner
        if isinstance(cast, d.CastOp) and numpy_dtype(cast.operand.type).kind in "iu" and numpy_dtype(value.type) == np.float32:
            return cast.operand, scale
    return None


def _weight(edit: Edit, value: SSAValue) -> _Weight | None:
    moves: list[FleetOp] = []
    while isinstance(value.owner, d.ReshapeOp | d.TransposeOp):
        moves.append(value.owner)
        value = value.owner.operands[0]
    parts = _scaled(value.owner)
    if parts is None:
        return None
    codes, scale = (known_array(edit, v) for v in parts)
    if codes is None or scale is None:
        return None
    wide = np.broadcast_to(scale, codes.shape)
    for move in reversed(moves):
        codes, wide = np.asarray(compute(move, [codes])), np.asarray(compute(move, [wide]))
    if codes.ndim != 2 or codes.min(initial=0) < -128 or codes.max(initial=0) > 127 or (wide != wide[:1]).any():
        return None
    return _Weight(codes.astype(np.int8), np.ascontiguousarray(wide[0], np.float32))


def _activation(edit: Edit, value: SSAValue) -> _Activation | None:
    moves: list[FleetOp] = []
    while isinstance(value.owner, _MOVES):
        op = value.owner
        if isinstance(op, d.PadOp) and not _is_zero(edit, op.value):
            return None
        moves.append(op)
        value = op.operands[0]
    parts = _scaled(value.owner)
    if parts is None:
        return None
    found = known_array(edit, parts[1])
    if found is None or found.size != 1:
        return None
    codes, zero = parts[0], 0
    if isinstance(codes.owner, d.SubOp):
        point = known_array(edit, codes.owner.rhs)
        if point is None or point.size != 1:
            return None
        codes, zero = codes.owner.lhs, int(point.item())
    if isinstance(codes.owner, d.CastOp):
        codes = codes.owner.operand
    if numpy_dtype(codes.type) not in {_INT8, np.dtype(np.uint8)}:
        return None
    return _Activation(codes, tuple(moves), zero, float(found.item()))


def _is_zero(edit: Edit, value: SSAValue) -> bool:
    found = known_array(edit, value)
    return found is not None and not found.any()


def _rewrite(edit: Edit, op: d.MatmulOp, x: _Activation, w: _Weight) -> None:
    name, wide = op_id(op), np.dtype(np.int32)

    def new(wanted: str, kind: str, *operands: SSAValue, **attributes: Any) -> SSAValue:
        return edit.insert_before(op, make(kind, list(operands), **attributes), f"{name}.{wanted}")

    def weight(wanted: str, array: np.ndarray) -> SSAValue:
        recipe = Derived("as it is", (np.ascontiguousarray(array),), array.shape, array.dtype, np.asarray)
        return edit.add_weight(edit.fresh_id(f"{name}.{wanted}"), recipe, tensor_type(array.shape, array.dtype))

    codes, zero = x.codes, x.zero
    if numpy_dtype(codes.type) != _INT8:
        half = edit.insert_before(op, constant(128, tensor_type((), wide)), f"{name}.half")
        codes = new("signed", "cast", new("moved", "sub", new("wide", "cast", codes, dtype=wide), half), dtype=_INT8)
        zero -= 128
    for move in reversed(x.moves):
        rest = list(move.operands[1:])
        if isinstance(move, d.PadOp):  # a real 0 is the zero point's code
            rest = [edit.insert_before(op, constant(zero, tensor_type((), _INT8)), f"{name}.zero")]
        codes = new(f"codes.{kind_of(move)}", kind_of(move), codes, *rest, **attributes_of(move))
    left = new("left", "cast", codes, dtype=wide)
    right = new("right", "cast", weight("codes", w.codes), dtype=wide)
    sums = new("sums", "matmul", left, right)
    if zero:
        sums = new("centred", "add", sums, weight("zero_sums", -zero * w.codes.astype(np.int32).sum(axis=0, dtype=np.int32)))
    real = new("real", "cast", sums, dtype=np.dtype(np.float32))
    result = make("mul", [real, weight("scales", np.float32(x.scale) * w.scales)])
    result.describe(**identity(op))
    edit.replace(op, edit.insert_before(op, result))


PASS = plain("integer-products", "multiply the codes of quantised tensors, not what they stand for", "rounding", _apply)
