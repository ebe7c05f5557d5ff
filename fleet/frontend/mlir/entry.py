"""The front end's way in, for code that seldom meets MLIR: its dialects are imported with the first file."""

from __future__ import annotations

from collections.abc import Collection, Mapping

import numpy as np

from fleet.ir.program import Program
from fleet.symbols.dims import Declared


def signature(spec: str) -> list[Declared]:
    """Return the declared arguments (`load.signature`)."""
    from fleet.frontend.mlir.load import signature as found

    return found(spec)


def load(
    spec: str, weights: Mapping[str, np.ndarray], inputs: Mapping[str, np.ndarray], *, dynamic: Collection[str] | bool = ()
) -> Program:
    """Read a model (`load.load`)."""
    from fleet.frontend.mlir.load import load as found

    return found(spec, weights, inputs, dynamic=dynamic)
