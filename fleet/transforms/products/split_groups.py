"""Splits grouped products, one weight per group, into products by block-diagonal weights of a few groups.

ONNX's grouped and depthwise convolutions multiply weights [G, m, k] by windows [..., G, k, places]. A device multiplies rows by a
single matrix. So g groups, enough for 16 outputs, become one product by a block-diagonal matrix [g * m, g * k]. On a device with 16
parallel outputs, the lanes that multiply zeros would be idle otherwise.
"""

from __future__ import annotations

import numpy as np
from xdsl.ir import SSAValue

from fleet.ir import dialect as d
from fleet.ir.build import make
from fleet.ir.constants import constant
from fleet.ir.dialect import op_id
from fleet.ir.types import numpy_dtype, shape_of, tensor_type
from fleet.ir.weights import Derived
from fleet.transforms.edit import Edit, identity
from fleet.transforms.passes import plain
from fleet.transforms.products.turn_products import of_weights

_OUTPUTS = 16
"""Minimum outputs of a merged product; groups are merged until they have as many."""


def _apply(edit: Edit) -> None:
    known: dict[SSAValue, bool] = {}
    for op in edit.operations():
        if isinstance(op, d.MatmulOp) and of_weights(edit, op.lhs, known) and not of_weights(edit, op.rhs, known):
            _split(edit, op)


def _split(edit: Edit, op: d.MatmulOp) -> None:
    weight, values = shape_of(op.lhs.type), shape_of(op.rhs.type)
    if len(weight) != 3 or len(values) < 3 or values[-3] != weight[0] or min(*weight, *values) < 1:
        return
    groups, outputs, inputs = weight
    *lead, _, _, places = values
    name, each = op_id(op), min(groups, -(-_OUTPUTS // outputs))

    def new(wanted: str, kind: str, *operands: SSAValue, **attributes: object) -> SSAValue:
        return edit.insert_before(op, make(kind, list(operands), **attributes), f"{name}.{wanted}")

    diagonals: dict[int, SSAValue] = {}
    parts: list[SSAValue] = []
    for first in range(0, groups, each):
        count = min(each, groups - first)
        if count not in diagonals:
            diagonals[count] = _diagonal(edit, f"{name}.diagonal", count, outputs, inputs)
        w = new("group", "slice", op.lhs, start=(first, 0, 0), size=(count, outputs, inputs))
        if count == 1:
            w = new("weight", "reshape", w, shape=(outputs, inputs))
        else:
            zero = edit.insert_before(op, constant(0, tensor_type((), numpy_dtype(w.type))), f"{name}.zero")
            row = new("row", "reshape", w, shape=(count * outputs * inputs,))
            w = new("weight", "gather", new("padded", "pad", row, zero, low=(0,), high=(1,)), diagonals[count], axis=0)
        size = (*lead, count, inputs, places)
        x = new("windows", "slice", op.rhs, start=(*[0] * len(lead), first, 0, 0), size=size)
        rows = new("rows", "reshape", x, shape=(*lead, count * inputs, places))
        parts.append(new("part", "matmul", w, rows))
    whole = parts[0] if len(parts) == 1 else new("joined", "concat", *parts, axis=len(lead))
    result = make("reshape", [whole], shape=(*lead, groups, outputs, places))
    result.describe(**identity(op))
    edit.replace(op, edit.insert_before(op, result))


def _diagonal(edit: Edit, name: str, groups: int, outputs: int, inputs: int) -> SSAValue:
    """Return int32 [groups * outputs, groups * inputs]: indices into the flattened weights with a zero appended."""
    size = groups * outputs * inputs
    where = np.full((groups, outputs, groups, inputs), size, np.int32)
    each = np.arange(groups)
    where[each, :, each] = np.arange(size, dtype=np.int32).reshape(groups, outputs, inputs)
    where = where.reshape(groups * outputs, groups * inputs)
    recipe = Derived("as it is", (where,), where.shape, where.dtype, np.asarray)
    return edit.add_weight(edit.fresh_id(name), recipe, tensor_type(where.shape, where.dtype))


PASS = plain("split-groups", "make products of groups products by one weight each", "rounding", _apply)
"""Rounding may change: sums get additional zeros and another order."""
