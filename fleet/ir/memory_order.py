"""Memory order of arrays: it decides the order of later sums and whether a reshape copies."""

from __future__ import annotations

from xdsl.ir import SSAValue

from fleet.ir import dialect as d
from fleet.ir.operations.operation import attributes_of
from fleet.ir.types import shape_of

__all__ = ["in_c_order"]

_MADE = (d.MatmulOp, d.GatherOp, d.ConstantOp, d.PadOp, d.ArgsortOp, d.ScatterOp)
_MOST_STEPS = 64


def in_c_order(value: SSAValue, left: int = _MOST_STEPS) -> bool:
    """Whether the elements certainly lie in C order, possibly with gaps."""
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
        case d.ElementwiseOp():
            return all(in_c_order(v, left // len(op.operands)) for v in op.operands)
        case d.FleetOp():
            return isinstance(op, _MADE)
        case _:
            return True  # an argument of the program
