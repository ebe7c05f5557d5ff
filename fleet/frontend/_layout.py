"""In which order an array's elements lie in memory: a later sum adds in that order, so that it decides bits."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

from xdsl.ir import SSAValue

from fleet.frontend import _called
from fleet.frontend._values import Tensor, Value, words
from fleet.ir import dialect as d
from fleet.ir.operation import attributes_of
from fleet.ir.types import shape_of

if TYPE_CHECKING:
    from fleet.frontend._evaluator import Evaluator

__all__ = ["in_c_order", "ordered"]

_MADE = (d.MatmulOp, d.GatherOp, d.ConstantOp, d.PadOp, d.ArgsortOp, d.ScatterOp)
_MOST_STEPS = 64


def in_c_order(value: SSAValue, left: int = _MOST_STEPS) -> bool:
    """Whether the elements certainly lie in C order, perhaps with others between them."""
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


def ordered(ev: Evaluator, node: ast.expr, x: Tensor, order: Value) -> Tensor:
    """A copy of the array whose elements lie in this order: "C", "F", "A" or "K" (None)."""
    if order not in (None, "C", "F", "A", "K"):
        ev.fail("F506", node, f"order={words(order)} is not supported", "'C', 'F', 'A' or 'K'")
    if order in (None, "K") or (order in ("C", "A") and in_c_order(x.ssa)) or len(x.shape) < 2:
        return Tensor(x.ssa, scalar=x.scalar)
    found = _called.call(ev, node, "numpy.copy", [x], {"order": order})
    assert isinstance(found, Tensor)
    return Tensor(found.ssa, scalar=False)
