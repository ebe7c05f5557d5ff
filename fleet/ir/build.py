"""Making operations by name, result types inferred: for front ends and passes."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from xdsl.ir import SSAValue

from fleet.ir.dialect import OPERATIONS, FleetOp


def make(name: str, operands: Sequence[SSAValue], **attributes: Any) -> FleetOp:
    """Operation `name` ("add") on these operands, in no block; `attributes` as in `FleetOp.infer`.

    Of `linear`, bias and residual say which of the optional operands are given (a bias by default where there is a third).
    Raises InferenceError when the operands do not fit. The caller gives it its identity (`FleetOp.describe`).
    """
    record = OPERATIONS[name]
    given = record.completed(attributes, len(operands))
    return record(operands, record.infer([v.type for v in operands], given), **given)
