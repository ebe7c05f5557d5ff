"""What the MVM's arithmetic allows to differ from the golden: facts for derived bounds (`fleet.cosim.tolerance`)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from fleet.ir.dialect import FleetOp, MatmulOp, op_id
from fleet.ir.types import shape_of
from fleet.isa.contract import Device
from fleet.isa.hbm0923.operands import ceil_div


def error_model(ops: Sequence[FleetOp], device: Device, options: Mapping[str, Any]) -> Mapping[str, Any]:
    """FP16 in memory, binary32 inside; a term of a product is rounded with its group's sum, with the scale, and in every
    accumulation after it (docs/arithmetic.md): 2 + groups at most. BN weights are 1, so BN adds only the bias's rounding.
    """
    group = int(options.get("group", device.parameters["Tblk"]))
    return {
        "load": "float16",
        "internal": "float32",
        "store": "float16",
        "roundings": {op_id(op): 2 + ceil_div(shape_of(op.lhs.type)[-1], group) for op in ops if isinstance(op, MatmulOp)},
    }
