"""What the RISC-V target's functions promise: the errors that derived bounds may count with."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

__all__ = ["MAX_ULP"]

MAX_ULP: Mapping[str, Mapping[str, float]] = MappingProxyType(
    {
        "float32": MappingProxyType({"exp": 0.51, "log": 0.51, "tanh": 0.51, "pow": 0.51}),
        "float64": MappingProxyType({"exp": 1.0, "log": 1.0, "tanh": 3.0, "pow": 1.5}),
    }
)
"""dtype -> function -> largest error in ULPs of the result, over all finite arguments.

1 ULP is the distance of neighbouring values at the exact result (of subnormal ones in the subnormal range). Everything
else (add, sub, mul, div, sqrt, casts) is correctly rounded by the hardware; sums run sequentially, in a matrix product
with one fused multiply-add a step.
"""
