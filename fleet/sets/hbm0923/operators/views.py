"""Operators without instructions: the result is the operand's memory with another shape, address or stride."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from fleet.sdk.symbols import Number, as_expr, dim
from fleet.sdk.tasks import TaskCall, TaskOperand
from fleet.sets.hbm0923.mvm_operands import PIXEL_BYTES, PIXEL_LANES
from fleet.sets.hbm0923.operators.operands import argument, known, refused, same

Shapes = Sequence[tuple[Number, ...]]
COPY = "the device has no instruction that copies"


def _source(call: TaskCall, index: int = 0) -> TaskOperand:
    operand = argument(call, index, "a tensor")
    if operand.space == "hbm" or len(operand.shape) != 3:
        raise refused(call, f"an operand of {operand.dtype} in {operand.space}, expected a feature (heads, tokens, channels)")
    return operand


def _three(call: TaskCall, shape: tuple[Number, ...]) -> tuple[Number, Number, Number]:
    if len(shape) != 3:
        raise refused(call, f"a result of {len(shape)} dimensions, expected (heads, tokens, channels)")
    return shape[0], shape[1], shape[2]


def _groups(call: TaskCall, channels: Number) -> int:
    """Return the whole groups of 32 channels of a head. Raises DeviceError if a group would hold channels of two heads."""
    number = known(channels, call, "the number of channels")
    if number % PIXEL_LANES:
        raise refused(call, f"heads of {number} channels do not stand in whole groups of {PIXEL_LANES}; {COPY}")
    return number // PIXEL_LANES


def reshape(call: TaskCall, shapes: Shapes) -> tuple[TaskOperand, ...]:
    """Reshape heads to channels and back: (1, tokens, heads * D) and (heads, tokens, D) are the same bytes if 32 divides D."""
    x, shape = _source(call), _three(call, shapes[0])
    if all(same(a, b) for a, b in zip(x.shape, shape, strict=True)):
        return (replace(x, shape=shape, name=""),)
    if not same(x.shape[1], shape[1]):
        raise refused(call, f"from {x.shape[1]} to {shape[1]} tokens: tokens cannot become heads or channels; {COPY}")
    before, after = known(x.shape[0], call, "the number of heads"), known(shape[0], call, "the number of heads")
    groups = _groups(call, x.shape[2]), _groups(call, shape[2])
    if before * groups[0] != after * groups[1]:
        raise refused(call, f"from {before} heads of {x.shape[2]} channels to {after} of {shape[2]}: not as many numbers")
    if before > 1 and not same(x.line, as_expr(x.surface) * groups[0]):
        raise refused(call, f"its heads stand apart ({x.line} bytes between them); {COPY}")
    return (replace(x, shape=shape, line=dim(as_expr(x.surface) * groups[1]), name=""),)


def split(call: TaskCall, shapes: Shapes) -> tuple[TaskOperand, ...]:
    """Split along the axis in which the results are smaller: channels at multiples of 32, tokens, or heads."""
    x = _source(call)
    axis = _axis(call, [x.shape], shapes)
    parts: list[TaskOperand] = []
    at: Number = 0
    for n, shape in enumerate(shapes):
        parts.append(replace(x, shape=_three(call, shape), address=dim(as_expr(x.address) + _bytes(call, x, axis, at)), name=""))
        at = dim(as_expr(at) + shape[axis])
        if axis == 2 and n < len(shapes) - 1:
            _groups(call, at)
    if not same(at, x.shape[axis]):
        raise refused(call, f"its parts have {at} of {x.shape[axis]} along axis {axis}")
    return tuple(parts)


def concat(call: TaskCall, shapes: Shapes) -> tuple[TaskOperand, ...]:
    """Join operands that are adjacent parts of one tensor, in order."""
    parts = [_source(call, i) for i in range(len(call.args))]
    shape = _three(call, shapes[0])
    axis = _axis(call, shapes, [p.shape for p in parts])
    first = parts[0]
    at: Number = 0
    for part in parts:
        if part.space != first.space or not same(part.surface, first.surface):
            raise refused(call, f"its operands have different strides or memories; {COPY}")
        if not same(part.line, first.line) and not (same(part.shape[0], 1) and axis != 0):
            raise refused(call, f"its operands have different strides; {COPY}")
        if not same(part.address, as_expr(first.address) + _bytes(call, first, axis, at)):
            raise refused(call, f"its operands do not stand one behind the other; {COPY}", "make them in one product")
        at = dim(as_expr(at) + part.shape[axis])
    return (replace(first, shape=shape, name=""),)


def concat_parts(call: TaskCall, whole: TaskOperand) -> tuple[TaskOperand, ...]:
    """Return the places of the operands if they are written directly into the result."""
    axis = _axis(call, [whole.shape], [a.shape for a in call.args])
    made: list[TaskOperand] = []
    at: Number = 0
    for n, part in enumerate(call.args):
        address = dim(as_expr(whole.address) + _bytes(call, whole, axis, at))
        made.append(
            replace(part, space=whole.space, address=address, surface=whole.surface, line=whole.line, storage=whole.storage)
        )
        at = dim(as_expr(at) + part.shape[axis])
        if axis == 2 and n < len(call.args) - 1:
            _groups(call, at)
    return tuple(made)


def gather(call: TaskCall, shapes: Shapes) -> tuple[TaskOperand, ...]:
    """Select one token, by default the last."""
    x, shape = _source(call), _three(call, shapes[0])
    if not same(shape[1], 1):
        raise refused(call, f"a result of {shape[1]} tokens, expected one")
    index = call.number("index")
    at = as_expr(x.shape[1]) - 1 if index is None else as_expr(index)
    return (replace(x, shape=shape, address=dim(as_expr(x.address) + at * PIXEL_BYTES), name=""),)


def _bytes(call: TaskCall, x: TaskOperand, axis: int, count: Number) -> Number:
    """Return the bytes of `count` heads, tokens or channels."""
    if axis == 0:
        return dim(as_expr(x.line) * count)
    return dim(as_expr(count) * PIXEL_BYTES) if axis == 1 else dim(as_expr(x.surface) * _groups(call, count))


def _axis(call: TaskCall, whole: Shapes, parts: Shapes) -> int:
    """Return the axis along which parts form the whole: the given one, else the one in which the shapes differ."""
    given = call.real("axis" if "axis" in call.attrs else "dim")
    if given is not None:
        return int(given) % 3
    differ = {i for p in parts for i in range(3) if not same(_three(call, p)[i], _three(call, whole[0])[i])}
    if len(differ) > 1:
        raise refused(call, "its parts differ from the whole along several axes")
    return differ.pop() if differ else 2
