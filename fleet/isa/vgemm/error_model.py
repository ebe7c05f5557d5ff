"""What the arithmetic on real tensors allows to differ from the golden, out of docs/vgemm.md: facts for derived bounds.

An activation is in fixed point with 16 fraction bits in memory; it becomes INT8 with 4 of them where it is multiplied. Products
and sums of these numbers are exact; on the way to the host they are rounded to float32.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from fleet.ir.dialect import FleetOp
from fleet.isa.contract import Device

__all__ = ["error_model"]


def error_model(_ops: Sequence[FleetOp], _device: Device, _options: Mapping[str, Any]) -> Mapping[str, Any]:
    """See `fleet.cosim.tolerance` for the keys; the same for every group."""
    return {
        "load": {"step": 2.0**-4, "low": -8.0, "high": 7.9375, "before": 2.0**-16},
        "internal": "float32",
        "store": "float32",
        "causes": {"weights": "weights as INT8 with one power of two", "unit": "activations in steps of 1 / 16, -8 to 7.9375"},
    }
