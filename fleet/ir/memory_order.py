"""Memory order of arrays: it decides the order of later sums and whether a reshape copies."""

from __future__ import annotations

from xdsl.ir import SSAValue

from fleet.ir import dialect as d
from fleet.ir.library.call import LibraryCall
from fleet.ir.operations.operation import attributes_of
from fleet.ir.types import shape_of

_MADE = (d.MatmulOp, d.GatherOp, d.ConstantOp, d.PadOp, d.ArgsortOp, d.ScatterOp)
_ALONG = frozenset({"cumprod", "nancumprod", "nancumsum"})
"""Functions of NumPy whose result lies in memory as their operand does."""
_MOST_STEPS = 64


def in_c_order(value: SSAValue, left: int = _MOST_STEPS) -> bool:
    """Return whether the elements certainly lie in C order, possibly with gaps."""
    op = value.owner
    if sum(n != 1 for n in shape_of(value.type)) < 2 and not isinstance(op, d.SliceOp | d.NumpyOp):
        return True
    if left <= 0:
        return False
    match op:
        case d.TransposeOp():
            shape, order = shape_of(op.operand.type), attributes_of(op)["permutation"]
            moved = [a for a in order if shape[a] != 1]
            return moved == sorted(moved) and in_c_order(op.operand, left - 1)
        case d.SliceOp():
            return min(attributes_of(op).get("step") or [1]) > 0 and in_c_order(op.operand, left - 1)
        case d.ReshapeOp():  # a view in the same order, or a copy in C order
            return in_c_order(op.operands[0], left - 1)
        case d.CumsumOp():  # NumPy keeps the order of what it adds along an axis
            return in_c_order(op.operand, left - 1)
        case d.NumpyOp():
            call = LibraryCall.parse(op.call.data)
            copied = call.function == "copy" and ("order", "C") in call.keywords
            return copied or (call.function in _ALONG and in_c_order(op.operands[0], left - 1))
        case d.ElementwiseOp():
            return all(in_c_order(v, left // len(op.operands)) for v in op.operands)
        case d.FleetOp():
            return isinstance(op, _MADE)
        case _:
            return True  # an argument of the program


def repeats(value: SSAValue) -> bool:
    """Return whether the array certainly repeats an element: it has a dimension with a stride of 0."""
    return any(sign == 0 and n > 1 for sign, n in zip(_signs(value, _MOST_STEPS), shape_of(value.type), strict=True))


def dot_copies(value: SSAValue) -> bool:
    """True if np.dot certainly copies this operand before it calls BLAS: a stride is negative, or elements repeat."""
    return repeats(value) or min(_signs(value, _MOST_STEPS), default=1) < 0


def _signs(value: SSAValue, left: int) -> tuple[int, ...]:
    """Return the sign of each dimension's stride as far as view operations determine it, else 1."""
    op, shape = value.owner, shape_of(value.type)
    if left <= 0:
        return (1,) * len(shape)
    match op:
        case d.BroadcastToOp():
            own, sizes = _signs(op.operand, left - 1), shape_of(op.operand.type)
            new = len(shape) - len(sizes)
            return tuple(0 if i < new or (n != 1 and sizes[i - new] == 1) else own[i - new] for i, n in enumerate(shape))
        case d.TransposeOp():
            own = _signs(op.operand, left - 1)
            return tuple(own[axis] for axis in attributes_of(op)["permutation"])
        case d.SliceOp():
            steps = attributes_of(op).get("step") or [1] * len(shape)
            return tuple(own if step > 0 else -own for step, own in zip(steps, _signs(op.operand, left - 1), strict=True))
        case d.ReshapeOp():
            sizes = shape_of(op.operand.type)
            if [n for n in sizes if n != 1] != [n for n in shape if n != 1]:
                return (1,) * len(shape)
            kept = iter([own for n, own in zip(sizes, _signs(op.operand, left - 1), strict=True) if n != 1])
            return tuple(next(kept) if n != 1 else 1 for n in shape)
        case _:
            return (1,) * len(shape)
