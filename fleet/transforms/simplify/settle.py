"""Replaces operations with sizes as operands, once the sizes are numbers: by reshape, broadcast_to, slice, or a weight."""

from __future__ import annotations

import math

from xdsl.ir import SSAValue

from fleet.errors import ModelError
from fleet.ir import dialect as d
from fleet.ir.build import make
from fleet.ir.constants import constant, constant_value
from fleet.ir.dialect import ConstantOp, FleetOp, op_id
from fleet.ir.operations.operation import attributes_of
from fleet.ir.shapes import UNKNOWN, InferenceError, check_size
from fleet.ir.types import is_tensor, numpy_dtype, shape_of, tensor_type
from fleet.ir.weights import Creation, Weights
from fleet.transforms.edit import Edit, identity


def settle(edit: Edit, op: FleetOp) -> bool:
    """Replace an operation if all its sizes are constants and the operand's relevant sizes are known; return whether it did.

    For slice, reshape and broadcast_to: if they leave open a size that the operand now gives. Raises ModelError for sizes that do
    not fit, as the run would.
    """
    if isinstance(op, d.SliceOp | d.ReshapeOp | d.BroadcastToOp):
        return _closed(edit, op)
    if not isinstance(op, d.SizedOp):
        return False
    made = isinstance(op, d.ArangeOp | d.TriOp)
    sizes = [_size(v) for v in (op.operands if made else op.operands[1:])]
    if any(n is None for n in sizes):
        return False
    numbers = [n for n in sizes if n is not None]
    try:
        return _weight(edit, op, numbers) if made else _moved(edit, op, numbers)
    except InferenceError as error:
        raise ModelError(str(error), where=op_id(op)) from error


def _closed(edit: Edit, op: d.SliceOp | d.ReshapeOp | d.BroadcastToOp) -> bool:
    source, target = op.operands[0], list(shape_of(op.results[0].type))
    shape = shape_of(source.type)
    try:
        if isinstance(op, d.SliceOp):
            return _closed_slice(edit, op, shape)
        if UNKNOWN not in target or UNKNOWN in shape:
            return False
        if isinstance(op, d.ReshapeOp):
            rest = math.prod(n for n in target if n != UNKNOWN)
            target[target.index(UNKNOWN)] = math.prod(shape) // rest if rest else 0
            return _replace(edit, op, make("reshape", [source], shape=target))
        own = (1,) * (len(target) - len(shape)) + shape
        target = [o if t == UNKNOWN else t for o, t in zip(own, target, strict=True)]
        return _replace(edit, op, make("broadcast_to", [source], shape=target))
    except InferenceError as error:
        raise ModelError(str(error), where=op_id(op)) from error


def _closed_slice(edit: Edit, op: d.SliceOp, shape: tuple[int, ...]) -> bool:
    found = attributes_of(op)
    start, size = list(found["start"]), list(found["size"])
    step = list(found.get("step") or [1] * len(shape))
    for i, n in enumerate(shape):
        if n == UNKNOWN:
            continue
        start[i] += n if start[i] < 0 else 0
        if size[i] < 0:
            size[i] = len(range(start[i], n if step[i] > 0 else -1, step[i]))
        if size[i] == 0:
            start[i], step[i] = 0, 1
    if (start, size) == (found["start"], found["size"]):
        return False
    return _replace(edit, op, make("slice", [op.operands[0]], start=start, size=size, step=step))


def _size(value: SSAValue) -> int | None:
    number = constant_value(value.owner) if isinstance(value.owner, ConstantOp) else None
    return number if isinstance(number, int) else None


def _moved(edit: Edit, op: FleetOp, numbers: list[int]) -> bool:
    source = op.operands[0]
    shape = shape_of(source.type)
    if isinstance(op, d.DynamicSliceOp):
        found = attributes_of(op)
        if any(shape[a] == UNKNOWN for a in found["axes"]):
            return False
        start, size, step = [0] * len(shape), list(shape), [1] * len(shape)
        for i, (axis, by) in enumerate(zip(found["axes"], found["step"], strict=True)):
            first, last, _ = slice(numbers[2 * i], numbers[2 * i + 1], by).indices(shape[axis])
            size[axis] = len(range(first, last, by))
            start[axis], step[axis] = (first, by) if size[axis] else (0, 1)
        return _replace(edit, op, make("slice", [source], start=start, size=size, step=step))
    given = iter(numbers)
    target = [next(given) if n == UNKNOWN else n for n in shape_of(op.results[0].type)]
    if isinstance(op, d.DynamicReshapeOp):
        if UNKNOWN not in shape and target.count(-1) == 1 and (rest := math.prod(n for n in target if n != -1)):
            target[target.index(-1)] = math.prod(shape) // rest
        return _replace(edit, op, make("reshape", [source], shape=target))
    if UNKNOWN in shape:
        return False
    if not shape and isinstance(source.owner, ConstantOp):
        value = constant_value(source.owner)
        return _replace(edit, op, constant(value, tensor_type(target, numpy_dtype(source.type))))
    return _replace(edit, op, make("broadcast_to", [source], shape=target))


def _replace(edit: Edit, op: FleetOp, new: FleetOp) -> bool:
    """Insert a new operation with the identity of the old one; use the operand itself if nothing is to be done."""
    type_ = new.results[0].type
    if not isinstance(new, ConstantOp) and type_ == op.operands[0].type and _whole(new):
        edit.replace(op, op.operands[0])
        return True
    new.describe(**identity(op))
    edit.insert_before(op, new)
    edit.replace(op, new.results[0])
    return True


def _whole(op: FleetOp) -> bool:
    """Return whether it changes nothing, because its type is the operand's."""
    return UNKNOWN not in shape_of(op.results[0].type) and all(s == 1 for s in attributes_of(op).get("step") or ())


def _weight(edit: Edit, op: FleetOp, numbers: list[int]) -> bool:
    type_ = op.results[0].type
    assert is_tensor(type_)
    if isinstance(op, d.TriOp):
        shape = (max(numbers[0], 0), max(numbers[1], 0))
        recipe = Creation("tri", tuple(numbers), shape, numpy_dtype(type_))
    else:
        start, stop, step = numbers
        if step == 0:
            raise InferenceError("arange with a step of zero")
        shape = (len(range(start, stop, step)),)
        spelled = (stop,) if (start, step) == (0, 1) else (start, stop) if step == 1 else (start, stop, step)
        recipe = Creation("arange", spelled, shape, numpy_dtype(type_))
    check_size(shape)
    edit.replace(op, _argument(edit, op_id(op), recipe))
    return True


def _argument(edit: Edit, name: str, recipe: Creation) -> SSAValue:
    """Return the recipe's weight: an existing one, or a new one with the operation's name."""
    entries = edit.weights.entries if isinstance(edit.weights, Weights) else {}
    for argument, value in zip(edit.arguments, edit.block.args, strict=True):
        if entries.get(argument.name) == recipe:
            return value
    taken = {a.name for a in edit.arguments}
    spelled, count = name, 0
    while spelled in taken:
        count += 1
        spelled = f"{name}.{count}"
    return edit.add_weight(spelled, recipe, tensor_type(recipe.shape, recipe.dtype))
