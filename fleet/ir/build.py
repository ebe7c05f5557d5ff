"""Creates operations by name, with inferred result types, and appends them to a block: for front ends, passes and exports."""

from __future__ import annotations

from collections.abc import Generator, Sequence
from contextlib import contextmanager
from typing import Any

from xdsl.ir import Block, SSAValue

from fleet.ir.dialect import OPERATIONS, FleetOp


class BlockAppender:
    """Appends to `block`."""

    block: Block

    @contextmanager
    def inside(self, block: Block) -> Generator[None]:
        """Append to another block within the context."""
        outer, self.block = self.block, block
        try:
            yield
        finally:
            self.block = outer


def make(name: str, operands: Sequence[SSAValue], **attributes: Any) -> FleetOp:
    """Create operation `name` ("add") on these operands, outside any block; `attributes` as in `FleetOp.infer`.

    For `linear`, bias and residual say which of the optional operands are given (by default a third operand is a bias).
    Raises InferenceError if the operands do not fit. The caller sets its identity (`FleetOp.describe`).
    """
    record = OPERATIONS[name]
    given = record.completed(attributes, len(operands))
    return record(operands, record.infer([v.type for v in operands], given), **given)
