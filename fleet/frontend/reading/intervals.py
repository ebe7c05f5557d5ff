"""What is proved of an index while the source is read: the round of a loop of known count lies in a known interval."""

from __future__ import annotations

from xdsl.ir import SSAValue

from fleet.frontend.reading.evaluator import Evaluator
from fleet.ir.constants import constant_value
from fleet.ir.dialect import AddOp, CastOp, ConstantOp, FloorDivOp, ModOp, MulOp, SubOp
from fleet.ir.types import numpy_dtype

_DEPTH = 8


def is_inside(ev: Evaluator, index: SSAValue, size: int) -> bool:
    """Return True if an index is proved to lie in [0, size)."""
    found = interval(ev, index)
    return found is not None and found[0] >= 0 and found[1] < size


def interval(ev: Evaluator, value: SSAValue, depth: int = _DEPTH) -> tuple[int, int] | None:
    """Return the least and the largest integer that a number or array of the run can be, None if unknown.

    Sums, differences, products, quotients and remainders of the numbers of rounds (`Evaluator.rounds`) and of constants are known,
    as long as they have 32 bits: then int64 does not wrap.
    """
    if value in ev.rounds:
        return ev.rounds[value]
    op = value.owner
    if depth == 0 or numpy_dtype(value.type).kind != "i":
        return None
    if isinstance(op, ConstantOp):
        number = constant_value(op)
        return int(number), int(number)
    if isinstance(op, CastOp):
        return interval(ev, op.operands[0], depth - 1) if numpy_dtype(value.type).itemsize == 8 else None
    if not isinstance(op, AddOp | SubOp | MulOp | ModOp | FloorDivOp) or numpy_dtype(value.type).itemsize < 8:
        return None
    ends = [interval(ev, v, depth - 1) for v in op.operands]
    if ends[0] is None or ends[1] is None:
        return None
    (a, b), (c, d) = ends[0], ends[1]
    if isinstance(op, ModOp | FloorDivOp):
        if c != d or c < 1:
            return None
        return (a // c, b // c) if isinstance(op, FloorDivOp) else (0, c - 1) if a < 0 or b >= c else (a, b)
    corners = [a + c, b + d] if isinstance(op, AddOp) else [a - d, b - c] if isinstance(op, SubOp) else [a * c, a * d, b * c, b * d]
    low, high = min(corners), max(corners)
    return (low, high) if low >= -(1 << 31) and high < 1 << 31 else None
