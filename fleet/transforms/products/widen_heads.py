"""Widens the heads of an attention to a size that a device supports, with columns of zeros in the weights around it.

With zeros after each head's channels, q k^T does not change, and the zero columns of the values meet rows of zeros in the following
product: only sizes change. It is done if query, key and value are products by their own weights and the result is multiplied by
one, so that no zero is moved at run time.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import NamedTuple

import numpy as np
from xdsl.ir import Block, BlockArgument, SSAValue

from fleet.ir import dialect as d
from fleet.ir.build import make
from fleet.ir.dialect import FleetOp, op_id
from fleet.ir.operations import composite as c
from fleet.ir.program import Program
from fleet.ir.types import numpy_dtype, shape_of, tensor_type
from fleet.ir.weights import Derived, Weights
from fleet.transforms.edit import Edit


class _Source(NamedTuple):
    """A product that computes query, key or value: its operations, last first, and the product's operands."""

    moves: tuple[FleetOp, ...]
    add: FleetOp | None
    product: FleetOp
    bias: SSAValue | None


class _Target(NamedTuple):
    """The users of the heads' results: reshapes that keep the last axis, and the product by a weight."""

    moves: tuple[FleetOp, ...]
    product: FleetOp


def widen_heads(program: Program, widths: Sequence[int]) -> Program:
    """Return the program with every head widened to the next of `widths`. Heads of one of these sizes, or wider than all, stay.

    Removed operations are recorded as fused into the product after the attention. Returns the same object if nothing changes.
    """
    edit = Edit(program)
    changed = False
    for op in edit.operations():
        if isinstance(op, c.AttentionOp):
            changed |= _widen(edit, op, widths)
    return edit.program() if changed else program


def _widen(edit: Edit, op: c.AttentionOp, widths: Sequence[int]) -> bool:
    heads, kv_heads = int(op.heads.value.data), int(op.kv_heads.value.data)
    shape = shape_of(op.q.type)
    if -1 in shape or not shape[-1] or shape[-1] % heads:
        return False
    width = shape[-1] // heads
    wide = padded_width(width, widths)
    sources = [_source(edit, v) for v in (op.q, op.k, op.v)]
    target = _target(edit, op.results[0])
    if wide == width or target is None or any(s is None for s in sources):
        return False
    counts = (heads, kv_heads, kv_heads)
    made = [_wider(edit, s, count, width, wide) for s, count in zip(sources, counts, strict=True) if s is not None]
    mask = [] if op.mask is None else [op.mask]
    attributes = {
        "heads": heads,
        "kv_heads": kv_heads,
        "scale": float(op.scale.value.data),
        "causal": bool(op.causal.value.data),
    }
    product = target.product
    value = edit.insert_before(product, make("attention", [*made, *mask], **attributes), f"{op_id(op)}.wide")
    for move in target.moves:
        lead = list(shape_of(move.results[0].type)[:-1])
        value = edit.insert_before(product, make("reshape", [value], shape=[*lead, heads * wide]), f"{op_id(move)}.wide")
    rows = _padded(edit, product.operands[1], 0, heads, width, wide)
    gone = [*reversed(target.moves), op]
    for s in sources:
        assert s is not None
        gone += [*s.moves, *([] if s.add is None else [s.add]), s.product]
    product.operands[0], product.operands[1] = value, rows
    into = f"fused into {op_id(product)}"
    names = {op_id(g) for g in gone}
    edit.fates |= {inner: into for inner, fate in edit.fates.items() if fate.removeprefix("fused into ") in names}
    for g in gone:
        edit.erase(g, into)
    return True


def _once(value: SSAValue) -> FleetOp | None:
    """Return the only operation that uses a value, or None."""
    users = [use.operation for use in value.uses]
    return users[0] if len(users) == 1 and isinstance(users[0], FleetOp) else None


def _weight(edit: Edit, value: SSAValue) -> bool:
    return isinstance(value, BlockArgument) and edit.arguments[value.index].kind == "weight"


def _keeps_channels(op: FleetOp | Block) -> bool:
    return isinstance(op, d.ReshapeOp) and shape_of(op.operand.type)[-1:] == shape_of(op.result.type)[-1:]


def _product(edit: Edit, op: FleetOp | Block) -> d.MatmulOp | None:
    """Return the product of an activation by a matrix that is a weight, or None."""
    if not isinstance(op, d.MatmulOp) or not _weight(edit, op.rhs) or _weight(edit, op.lhs):
        return None
    return op if len(shape_of(op.rhs.type)) == 2 and len(shape_of(op.lhs.type)) >= 2 else None


def _source(edit: Edit, value: SSAValue) -> _Source | None:
    moves: list[FleetOp] = []
    while True:
        owner = value.owner
        if not isinstance(owner, FleetOp) or _once(value) is None:
            return None
        if not _keeps_channels(owner):
            break
        moves.append(owner)
        value = owner.operands[0]
    if isinstance(owner, d.AddOp):
        for sums, bias in ((owner.lhs, owner.rhs), (owner.rhs, owner.lhs)):
            product = None if isinstance(sums, BlockArgument) else _product(edit, sums.owner)  # pyright: ignore[reportArgumentType]
            if product is not None and _once(sums) is owner and _weight(edit, bias) and _per_channel(bias, value):
                return _Source(tuple(moves), owner, product, bias)
        return None
    product = _product(edit, owner)
    return None if product is None else _Source(tuple(moves), None, product, None)


def _per_channel(bias: SSAValue, value: SSAValue) -> bool:
    shape = shape_of(bias.type)
    return bool(shape) and shape[-1] == shape_of(value.type)[-1] and all(n == 1 for n in shape[:-1])


def _target(edit: Edit, value: SSAValue) -> _Target | None:
    moves: list[FleetOp] = []
    user = _once(value)
    while user is not None and _keeps_channels(user):
        moves.append(user)
        user = _once(user.results[0])
    product = None if user is None else _product(edit, user)
    return None if product is None else _Target(tuple(moves), product)


def _wider(edit: Edit, source: _Source, heads: int, width: int, wide: int) -> SSAValue:
    """Return the product with columns of zeros after each head's columns."""
    product = source.product
    matrix = _padded(edit, product.operands[1], 1, heads, width, wide)
    value = edit.insert_before(product, make("matmul", [product.operands[0], matrix]), f"{op_id(product)}.wide")
    if source.add is not None and source.bias is not None:
        axis = len(shape_of(source.bias.type)) - 1
        bias = _padded(edit, source.bias, axis, heads, width, wide)
        value = edit.insert_before(source.add, make("add", [value, bias]), f"{op_id(source.add)}.wide")
    for move in reversed(source.moves):
        lead = list(shape_of(move.results[0].type)[:-1])
        value = edit.insert_before(move, make("reshape", [value], shape=[*lead, heads * wide]), f"{op_id(move)}.wide")
    return value


def padded_width(width: int, widths: Sequence[int]) -> int:
    """Return the least of `widths` that holds a head; its own width if none does."""
    return min((w for w in widths if w >= width), default=width)


def padded_heads(array: np.ndarray, axis: int, heads: int, wide: int) -> np.ndarray:
    """Return an array with zeros after every head's part of an axis, so that each has `wide` numbers."""
    lead, tail = array.shape[:axis], array.shape[axis + 1 :]
    parts = array.reshape(*lead, heads, -1, *tail)
    padding = [(0, 0)] * parts.ndim
    padding[axis + 1] = 0, wide - parts.shape[axis + 1]
    return np.pad(parts, padding).reshape(*lead, heads * wide, *tail)


def _padded(edit: Edit, weight: SSAValue, axis: int, heads: int, width: int, wide: int) -> SSAValue:
    """Return a new weight: `weight` with zeros after each head's part of an axis."""
    assert isinstance(weight, BlockArgument)
    name, shape, dtype = edit.arguments[weight.index].name, shape_of(weight.type), numpy_dtype(weight.type)
    target = (*shape[:axis], heads * wide, *shape[axis + 1 :])

    entry = edit.weights.entries[name] if isinstance(edit.weights, Weights) else np.asarray(edit.weights[name])
    pad = partial(padded_heads, axis=axis, heads=heads, wide=wide)
    recipe = Derived(f"axis {axis}: {heads} heads of {width} as {wide}", (entry,), target, dtype, pad)
    return edit.add_weight(edit.fresh_id(f"{name}.heads_of_{wide}"), recipe, tensor_type(target, dtype))
