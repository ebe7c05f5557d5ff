"""Error limits of the RISC-V target's functions, for derived bounds."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

MAX_ULP: Mapping[str, Mapping[str, float]] = MappingProxyType(
    {
        "float32": MappingProxyType(
            dict.fromkeys(("exp", "log", "tanh", "pow", "erf", "rsqrt", "log1p", "expm1", "sin", "cos", "sigmoid"), 0.51)
            | {"silu": 1.6, "gelu": 1.6}
        ),
        "float64": MappingProxyType(
            {
                "exp": 1.0,
                "log": 1.0,
                "tanh": 3.0,
                "pow": 1.5,
                "erf": 1.5,
                "rsqrt": 1.5,
                "log1p": 2.5,
                "expm1": 1.5,
                "sin": 1.0,
                "cos": 1.0,
                "sigmoid": 2.5,
                "silu": 2.5,
            }
        ),
    }
)
"""dtype -> function -> largest error in ULPs of the result, over all finite arguments.

1 ULP is the distance of neighbouring values at the exact result (of subnormal ones in the subnormal range). The hardware rounds
everything else (add, sub, mul, div, sqrt, casts) correctly. Sums run sequentially (with vectors by lanes), in a matrix product with
one fused multiply-add per step. sin and cos: up to an argument of 2**30, beyond which the program stops. silu and gelu
(approximated by tanh) of float32: if their result is above 1e-30 in magnitude. gelu below 0 loses what 1 + tanh loses in exact
arithmetic as well, because it is computed as x / (1 + e**-2u).
"""
