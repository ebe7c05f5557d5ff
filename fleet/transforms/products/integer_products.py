"""Rewrites products of quantised tensors as int8 by int8 with int32 sums.

The codes of a model are int8 or uint8, with a constant or computed zero point. Three forms are recognised:

- scaled: `(sx * (x - zx)) @ (sw * (w - zw))`, of DequantizeLinear (QDQ models);
- integers: `(x - zx) @ (w - zw)` in int32, of ConvInteger, MatMulInteger and QLinearConv;
- `x @ (sw * w)` with a real x: only the weights are quantised.

The first two become `x' @ w' + ...` on int8 codes. uint8 codes are shifted by 128. Two terms are added: the column sums of the
weight times the zero point of x, and the row sums of x times the shift of each column whose w - zw exceeds int8. All of this is
exact modulo 2^32, as int32 arithmetic is. The scales, one per column, multiply the sums. In the third form the codes, divided by a
power of two, are the weight of a real product, and the scales multiply its sums.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from xdsl.ir import BlockArgument, SSAValue

from fleet.ir import dialect as d
from fleet.ir.build import make
from fleet.ir.constants import constant
from fleet.ir.dialect import FleetOp, kind_of, op_id
from fleet.ir.operations.operation import attributes_of
from fleet.ir.types import numpy_dtype, shape_of, tensor_type
from fleet.ir.weights import Derived
from fleet.transforms.edit import Edit, identity
from fleet.transforms.passes import plain
from fleet.transforms.products.turn_products import of_weights
from fleet.transforms.raising.masks import known_array
from fleet.transforms.simplify.numbers import compute

_INT8, _UINT8, _INT32, _FLOAT32 = (np.dtype(t) for t in (np.int8, np.uint8, np.int32, np.float32))
_MOVES = (d.ReshapeOp, d.TransposeOp, d.SliceOp, d.GatherOp, d.PadOp)
_HALF = 128
_REAL_BITS = 7
"""Codes of a weight in a real product are divided by 2^7, so that its sums stay as small as those of the activations."""


class _Codes(NamedTuple):
    """Codes of an activation (int8 or uint8), its zero point (int32 scalar, None for 0) and its scale (scalar, None for 1)."""

    values: SSAValue
    zero: SSAValue | None
    scale: SSAValue | None


class _Weight(NamedTuple):
    """integers: int32 [inputs, outputs], codes minus zero points; scales: float32 [outputs], or None."""

    integers: np.ndarray
    scales: np.ndarray | None

    @property
    def moves(self) -> np.ndarray:
        """int32 [outputs]: offset to subtract from each column so that it fits into int8, or 0."""
        low, high = self.integers.min(axis=0, initial=0), self.integers.max(axis=0, initial=0)
        return np.where((low >= -_HALF) & (high < _HALF), 0, np.where(high >= _HALF, high - (_HALF - 1), low + _HALF)).astype(
            np.int32
        )


def _apply(edit: Edit) -> None:
    _Products(edit).rewrite()


@dataclass
class _Moved:
    """int8 codes of an activation after some movements, and its int8 zero point (None for 0)."""

    value: SSAValue
    zero: SSAValue | None


class _Products:
    """Rewrites the products of one program; several products share the int8 codes of an activation."""

    def __init__(self, edit: Edit) -> None:
        self.edit = edit
        self.known: dict[SSAValue, bool] = {}
        self.moved: dict[SSAValue, _Moved] = {}
        self.zeros: dict[SSAValue, SSAValue] = {}
        self.changed = False

    def rewrite(self) -> None:
        for op in self.edit.operations():
            if isinstance(op, d.MatmulOp) and self._fits(op):
                self._product(op)
        if self.changed:
            self.edit.sweep()

    def _fits(self, op: d.MatmulOp) -> bool:
        shapes = shape_of(op.lhs.type), shape_of(op.rhs.type)
        if len(shapes[1]) != 2 or len(shapes[0]) < 2 or -1 in (*shapes[0], *shapes[1]):
            return False
        if numpy_dtype(op.result.type) not in {_INT32, _FLOAT32}:
            return False
        return of_weights(self.edit, op.rhs, self.known) and not of_weights(self.edit, op.lhs, self.known)

    def _product(self, op: d.MatmulOp) -> None:
        real = numpy_dtype(op.result.type) == _FLOAT32
        weight = _scaled_weight(self.edit, op.rhs) if real else _integer_weight(self.edit, op.rhs)
        base = op.lhs
        while isinstance(base.owner, _MOVES):
            if isinstance(base.owner, d.PadOp) and not _is_zero(self.edit, base.owner.value):
                base = op.lhs
                break
            base = base.owner.operands[0]
        codes = _codes(base, real=real)
        if weight is not None and codes is not None:
            if real or not self._done(op):
                self._integers(op, codes, weight)
                self.changed = True
        elif real and not isinstance(op.rhs, BlockArgument):
            self._real(op, weight)

    def _done(self, op: d.MatmulOp) -> bool:
        """Return whether both operands are casts of int8 codes, the weight's an argument of the program: nothing to rewrite."""
        right = op.rhs.owner
        if (
            not isinstance(right, d.CastOp)
            or not isinstance(right.operand, BlockArgument)
            or numpy_dtype(right.operand.type) != _INT8
        ):
            return False
        return isinstance(op.lhs.owner, d.CastOp) and numpy_dtype(op.lhs.owner.operand.type) == _INT8

    def _new(self, op: FleetOp, wanted: str, kind: str, *operands: SSAValue, **attributes: object) -> SSAValue:
        return self.edit.insert_before(op, make(kind, list(operands), **attributes), f"{op_id(op)}.{wanted}")

    def _number(self, op: FleetOp, wanted: str, number: int, dtype: np.dtype) -> SSAValue:
        return self.edit.insert_before(op, constant(number, tensor_type((), dtype)), f"{op_id(op)}.{wanted}")

    def _weight(self, op: FleetOp, wanted: str, array: np.ndarray) -> SSAValue:
        recipe = Derived("as it is", (np.ascontiguousarray(array),), array.shape, array.dtype, np.asarray)
        return self.edit.add_weight(self.edit.fresh_id(f"{op_id(op)}.{wanted}"), recipe, tensor_type(array.shape, array.dtype))

    # ---- activations

    def _zero(self, op: FleetOp, codes: _Codes) -> SSAValue | int:
        """Return the zero point of the int8 codes: a number if it is constant."""
        half = _HALF if numpy_dtype(codes.values.type) == _UINT8 else 0
        if codes.zero is None:
            return -half
        found = known_array(self.edit, codes.zero)
        if found is not None:
            return int(found.item()) - half
        if codes.zero not in self.zeros:
            zero = codes.zero if not shape_of(codes.zero.type) else self._new(op, "zero.one", "reshape", codes.zero, shape=())
            self.zeros[codes.zero] = (
                zero if not half else self._new(op, "zero", "sub", zero, self._number(op, "half", half, _INT32))
            )
        return self.zeros[codes.zero]

    def _behind(self, op: FleetOp, value: SSAValue, codes: _Codes) -> SSAValue:
        """Return the int8 codes of activation `value`: the same movements applied to the codes, with the zero point as padding."""
        chain: list[SSAValue] = []
        while value not in self.moved and isinstance(value.owner, _MOVES):
            chain.append(value)
            value = value.owner.operands[0]
        if value not in self.moved:
            self.moved[value] = self._signed(op, codes)
        found = self.moved[value]
        for next_value in reversed(chain):
            move = next_value.owner
            assert isinstance(move, FleetOp)
            rest = list(move.operands[1:])
            if isinstance(move, d.PadOp):
                rest = [self._number(op, "fill", 0, _INT8) if found.zero is None else found.zero]
            kind = kind_of(move)
            found = _Moved(self._new(op, f"codes.{kind}", kind, found.value, *rest, **attributes_of(move)), found.zero)
            self.moved[next_value] = found
        return found.value

    def _signed(self, op: FleetOp, codes: _Codes) -> _Moved:
        value = codes.values
        if numpy_dtype(value.type) == _UINT8:
            wide = self._new(op, "wide", "cast", value, dtype=_INT32)
            moved = self._new(op, "moved", "sub", wide, self._number(op, "middle", _HALF, _INT32))
            value = self._new(op, "signed", "cast", moved, dtype=_INT8)
        zero = self._zero(op, codes)
        if isinstance(zero, int):
            return _Moved(value, self._number(op, "zero", zero, _INT8) if zero else None)
        return _Moved(value, self._new(op, "zero.code", "cast", zero, dtype=_INT8))

    # ---- products

    def _integers(self, op: d.MatmulOp, x: _Codes, w: _Weight) -> None:
        codes = self._behind(op, op.lhs, x)
        left = self._new(op, "left", "cast", codes, dtype=_INT32)
        moves = w.moves
        right = self._new(op, "right", "cast", self._weight(op, "codes", (w.integers - moves).astype(np.int8)), dtype=_INT32)
        zero, column_sums = self._zero(op, x), w.integers.sum(axis=0, dtype=np.int32)
        terms: list[tuple[str, SSAValue]] = []
        if isinstance(zero, int):
            if zero:
                terms.append(("centred", self._weight(op, "zero_sums", np.int32(-zero) * column_sums)))
        else:
            terms.append(("centred", self._new(op, "zero_term", "mul", self._weight(op, "zero_sums", -column_sums), zero)))
        if moves.any():
            # A separate cast: a device's product covers the other one, and nothing else may use a covered value.
            row = self._new(op, "row", "cast", codes, dtype=_INT32)
            sums = self._new(op, "row_sum", "reduce_sum", row, axes=[len(shape_of(row.type)) - 1], keepdims=True)
            if numpy_dtype(sums.type) != _INT32:
                sums = self._new(op, "row_sums", "cast", sums, dtype=_INT32)
            terms.append(("moved_back", self._new(op, "moved_sums", "mul", sums, self._weight(op, "moves", moves))))
        found: FleetOp = make("matmul", [left, right])
        wanted = "sums"
        for name, term in terms:
            found, wanted = make("add", [self.edit.insert_before(op, found, f"{op_id(op)}.{wanted}"), term]), name
        if numpy_dtype(op.result.type) == _FLOAT32:
            sums = self.edit.insert_before(op, found, f"{op_id(op)}.{wanted}")
            real = self._new(op, "real", "cast", sums, dtype=_FLOAT32)
            found = make("mul", [real, self._scales(op, x, w)])
        found.describe(**identity(op))
        self.edit.replace(op, self.edit.insert_before(op, found))

    def _scales(self, op: d.MatmulOp, x: _Codes, w: _Weight) -> SSAValue:
        assert x.scale is not None
        assert w.scales is not None
        scale = known_array(self.edit, x.scale)
        if scale is not None:
            return self._weight(op, "scales", np.float32(scale.item()) * w.scales)
        one = x.scale if not shape_of(x.scale.type) else self._new(op, "scale.one", "reshape", x.scale, shape=())
        return self._new(op, "scales", "mul", self._weight(op, "scales", w.scales), one)

    def _real(self, op: d.MatmulOp, weight: _Weight | None) -> None:
        """Rewrite a real activation times a computed weight: multiply by its codes and then the scales, or by the folded weight."""
        if weight is not None and weight.scales is not None and not weight.moves.any():
            codes = (weight.integers * 2.0**-_REAL_BITS).astype(np.float32)
            product = self._new(op, "codes_product", "matmul", op.lhs, self._weight(op, "codes", codes))
            found = make("mul", [product, self._weight(op, "scales", weight.scales * np.float32(2.0**_REAL_BITS))])
        else:
            array = _array(self.edit, op.rhs)
            if array is None:
                return
            found = make("matmul", [op.lhs, self._weight(op, "weight", array)])
        found.describe(**identity(op))
        self.edit.replace(op, self.edit.insert_before(op, found))
        self.changed = True


def _codes(value: SSAValue, *, real: bool) -> _Codes | None:
    """Match `scale * (cast(codes) - zero)`, for integers `cast(codes) - zero`."""
    scale: SSAValue | None = None
    if real:
        parts = _scaled(value)
        if parts is None:
            return None
        value, scale = parts
        if not _is_one(scale):
            return None
    zero: SSAValue | None = None
    if isinstance(value.owner, d.SubOp) and numpy_dtype(value.type) == _INT32:
        value, zero = value.owner.operands
        if not _is_one(zero):
            return None
    while (
        isinstance(value.owner, d.CastOp)
        and numpy_dtype(value.type).kind in "iu"
        and numpy_dtype(value.type) not in {_INT8, _UINT8}
    ):
        value = value.owner.operand
    return _Codes(value, zero, scale) if numpy_dtype(value.type) in {_INT8, _UINT8} else None


def _is_one(value: SSAValue) -> bool:
    """Return whether the value has one element."""
    shape = shape_of(value.type)
    return -1 not in shape and int(np.prod(shape)) == 1


def _is_zero(edit: Edit, value: SSAValue) -> bool:
    found = known_array(edit, value)
    return found is not None and not found.any()


def _scaled(value: SSAValue) -> tuple[SSAValue, SSAValue] | None:
    """Match `cast(integers) * scale`; return (integers, scale)."""
    op = value.owner
    if not isinstance(op, d.MulOp):
        return None
    for factor, scale in ((op.lhs, op.rhs), (op.rhs, op.lhs)):
        cast = factor.owner
        if isinstance(cast, d.CastOp) and numpy_dtype(cast.operand.type).kind in "iu" and numpy_dtype(factor.type) == _FLOAT32:
            return cast.operand, scale
    return None


def _array(edit: Edit, value: SSAValue) -> np.ndarray | None:
    """Return the array, of any size, of a value that depends only on weights; None for others."""
    return known_array(edit, value, small=False)


def _integer_weight(edit: Edit, value: SSAValue) -> _Weight | None:
    array = _array(edit, value)
    if array is None or array.ndim != 2 or not _close(array):
        return None
    return _Weight(array.astype(np.int32), None)


def _close(integers: np.ndarray) -> bool:
    """Return whether every column fits into int8 after subtracting one number, and its sums fit into int32."""
    low, high = (f(integers.astype(np.int64), axis=0, initial=0) for f in (np.min, np.max))
    return bool((high - low <= 255).all()) and bool(np.maximum(high, -low).max(initial=0) <= 1 << 15)


def _scaled_weight(edit: Edit, value: SSAValue) -> _Weight | None:
    moves: list[FleetOp] = []
    while isinstance(value.owner, _MOVES):
        moves.append(value.owner)
        value = value.owner.operands[0]
    parts = _scaled(value)
    if parts is None:
        return None
    integers, scale = (_array(edit, v) for v in parts)
    if integers is None or scale is None:
        return None
    wide = np.broadcast_to(scale, integers.shape)
    for move in reversed(moves):
        rest = [_array(edit, v) for v in move.operands[1:]]
        if any(v is None for v in rest):
            return None
        integers, wide = (np.asarray(compute(move, [a, *_given(move, rest, a.dtype)])) for a in (integers, wide))
    if integers.ndim != 2 or not _close(integers):
        return None
    # Zeros have any scale: weights of groups are padded with them.
    scales = np.where(integers != 0, wide, 0).max(axis=0, initial=0, where=integers != 0)
    if ((integers != 0) & (wide != scales)).any():
        return None
    return _Weight(integers.astype(np.int32), np.ascontiguousarray(scales, np.float32))


def _given(move: FleetOp, rest: Sequence[Any], dtype: np.dtype) -> Sequence[Any]:
    """Return a movement's other operands; the fill value of a pad is cast to the dtype of the padded array."""
    return [r.astype(dtype) for r in rest] if isinstance(move, d.PadOp) else rest


PASS = plain("integer-products", "multiply the codes of quantised tensors, not what they stand for", "rounding", _apply)
