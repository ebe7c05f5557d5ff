"""The front end's way in for code that must run without the package onnx: what is missing is said, not raised as an ImportError."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from importlib.util import find_spec

import numpy as np

from fleet.errors import SetupError
from fleet.ir.program import Program
from fleet.symbols.dims import Declared


def _check() -> None:
    if missing := [name for name in ("onnx", "ml_dtypes") if find_spec(name) is None]:
        raise SetupError(
            f"the package {missing[0]} is missing", where="ONNX models", hint="install the extra: pip install 'fleet-cosim[onnx]'"
        )


def signature(spec: str) -> list[Declared]:
    """The declared inputs of a model (`load.signature`). Raises SetupError without the package onnx."""
    _check()
    from fleet.frontend.onnx.load import signature as found

    return found(spec)


def sample_inputs(spec: str, *, batch: int = 8, seed: int = 0) -> dict[str, np.ndarray]:
    """Seeded random inputs of a model (`load.sample_inputs`). Raises SetupError without the package onnx."""
    _check()
    from fleet.frontend.onnx.load import sample_inputs as found

    return found(spec, batch=batch, seed=seed)


def numbered(spec: str, inputs: Mapping[str, np.ndarray]) -> dict[str, np.ndarray]:
    """Inputs with numbers in place of text (`load.numbered`). Raises SetupError without the package onnx."""
    _check()
    from fleet.frontend.onnx.load import numbered as found

    return found(spec, inputs)


def replaceable(spec: str) -> list[str]:
    """Inputs of a model that have a default (`load.replaceable`). Raises SetupError without the package onnx."""
    _check()
    from fleet.frontend.onnx.load import replaceable as found

    return found(spec)


def load(
    spec: str, weights: Mapping[str, np.ndarray], inputs: Mapping[str, np.ndarray], *, dynamic: Collection[str] | bool = ()
) -> Program:
    """A model as a program (`load.load`). Raises SetupError without the package onnx."""
    _check()
    from fleet.frontend.onnx.load import load as found

    return found(spec, weights, inputs, dynamic=dynamic)
