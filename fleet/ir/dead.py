"""Dead code elimination."""

from __future__ import annotations

from xdsl.dialects.func import ReturnOp
from xdsl.ir import Block, Operation

from fleet.ir.dialect import YieldOp, has_effects


def drop_dead(block: Block) -> None:
    """Remove operations with unused results, so that no array is kept for them."""
    op: Operation | None = block.last_op
    while op is not None:
        before = op.prev_op
        if not isinstance(op, ReturnOp | YieldOp) and not has_effects(op) and not any(r.uses for r in op.results):
            op.detach()
            op.erase()
        op = before
