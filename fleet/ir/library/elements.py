"""Elementwise functions that are not ufuncs, as sequences of operations."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from fleet.ir.expansion import Expansion
from fleet.ir.library.angles import signbit
from fleet.ir.library.arrays import Array, filled, select


def _sinc(_s: Expansion, x: Array) -> Array:
    x = x if x.dtype.kind == "f" else x.astype(np.float64)
    y = x * math.pi
    zero = y.equal(0.0)
    safe = select(zero, 1.0, y)
    return select(zero, 1.0, safe.op("sin") / safe)


def _infinite(far: float) -> Callable[..., Array]:
    def rule(_s: Expansion, x: Array) -> Array:
        return x.equal(far) if x.dtype.kind == "f" else x.op("not_equal", x)

    return rule


def _angle(_s: Expansion, z: Array, deg: bool = False) -> Array:
    wide = z if z.dtype.kind == "f" else z.astype(np.float64)
    return select(wide.isnan(), wide, select(signbit(wide), 180.0 if deg else math.pi, 0.0))


RULES: Mapping[str, Callable[..., Any]] = {
    "sinc": _sinc,
    "isposinf": _infinite(math.inf),
    "isneginf": _infinite(-math.inf),
    "real": lambda _s, val: val,
    "imag": lambda s, val: filled(s, val.shape, 0, val.dtype),
    "isreal": lambda s, x: filled(s, x.shape, True, bool),
    "iscomplex": lambda s, x: filled(s, x.shape, False, bool),
    "angle": _angle,
    "real_if_close": lambda _s, a, **_tol: a,
}
"""Function -> its sequence, given the arguments by NumPy's names."""
