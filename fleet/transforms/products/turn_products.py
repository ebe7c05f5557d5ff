"""Moves a weight from the left of a product to the right: `w @ x` becomes `(x.T @ w.T).T`.

Devices multiply activations by weights. ONNX's convolutions are such products: a weight [M, K] by the windows [N, K, places] of an
image.
"""

from __future__ import annotations

import numpy as np
from xdsl.ir import BlockArgument, SSAValue

from fleet.ir import dialect as d
from fleet.ir.build import make
from fleet.ir.dialect import ConstantOp, FleetOp, op_id
from fleet.ir.types import numpy_dtype, shape_of, tensor_type
from fleet.ir.walk import operands_first
from fleet.ir.weights import Derived, Weights
from fleet.transforms.edit import Edit, identity
from fleet.transforms.passes import plain


def of_weights(edit: Edit, value: SSAValue, known: dict[SSAValue, bool]) -> bool:
    """Return whether a value is a weight, or computed from weights and numbers alone. known: cache for one pass."""
    for v in operands_first(value, lambda v: () if v in known or not isinstance(v.owner, FleetOp) else v.owner.operands):
        if v not in known:
            known[v] = _of_weights(edit, v, known)
    return known[value]


def _of_weights(edit: Edit, value: SSAValue, known: dict[SSAValue, bool]) -> bool:
    if isinstance(value, BlockArgument):
        return edit.arguments[value.index].kind == "weight"
    op = value.owner
    if not isinstance(op, FleetOp) or isinstance(op, ConstantOp) or not op.operands:
        return False
    return all(known[v] or isinstance(v.owner, ConstantOp) for v in op.operands)


def _apply(edit: Edit) -> None:
    known: dict[SSAValue, bool] = {}
    for op in edit.operations():
        if isinstance(op, d.MatmulOp) and of_weights(edit, op.lhs, known) and not of_weights(edit, op.rhs, known):
            _turn(edit, op)


def _turn(edit: Edit, op: d.MatmulOp) -> None:
    rank = len(shape_of(op.rhs.type))
    if len(shape_of(op.lhs.type)) != 2 or rank < 2 or -1 in shape_of(op.rhs.type):
        return
    name = op_id(op)
    swapped = [*range(rank - 2), rank - 1, rank - 2]
    rows = edit.insert_before(op, make("transpose", [op.rhs], permutation=swapped), f"{name}.rows")
    weight = _transposed(edit, op, op.lhs)
    product = edit.insert_before(op, make("matmul", [rows, weight]), f"{name}.turned")
    back = make("transpose", [product], permutation=swapped)
    back.describe(**identity(op))
    edit.replace(op, edit.insert_before(op, back))


def _transposed(edit: Edit, place: FleetOp, value: SSAValue) -> SSAValue:
    if not isinstance(value, BlockArgument):
        return edit.insert_before(place, make("transpose", [value], permutation=[1, 0]), f"{op_id(place)}.weight")
    name, dtype, shape = edit.arguments[value.index].name, numpy_dtype(value.type), shape_of(value.type)[::-1]
    entry = edit.weights.entries[name] if isinstance(edit.weights, Weights) else np.asarray(edit.weights[name])
    return edit.add_weight(
        edit.fresh_id(f"{name}.turned"), Derived("transposed", (entry,), shape, dtype, np.transpose), tensor_type(shape, dtype)
    )


PASS = plain("turn-products", "put weights on the right of products", "rounding", _apply)
"""Rounding may change: a transposed product may be summed in another order."""
