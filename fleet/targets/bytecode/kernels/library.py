"""The VM's calls of NumPy functions. The hint is not trusted: NumPy's result must agree with it."""

from __future__ import annotations

from typing import Any

import numpy as np

from fleet.ir.dialect import NumpyOp
from fleet.ir.shapes import InferenceError
from fleet.ir.types import tensor_type
from fleet.targets.bytecode.hints import DispatchInfo, parse_type


def library(info: DispatchInfo) -> Any:
    """Return NumPy's function. Raises ValueError for a call that programs may not make, and for types that are not its own."""
    operands = [parse_type(t) for t in info.in_types]
    shape, dtype = parse_type(info.out_types[0])
    try:
        leaf = NumpyOp.leaf([tensor_type(*t) for t in operands], info.attrs)
    except InferenceError as error:
        raise ValueError(str(error)) from None
    fits = len(shape) == len(leaf.shape) and all(d in (-1, n) for d, n in zip(leaf.shape, shape, strict=True))
    if not fits or leaf.dtype != dtype or set("".join(info.sig)) != {"r"}:
        raise ValueError(f"its result is {leaf.dtype}{list(leaf.shape)}")

    def run(*values: Any) -> Any:
        for i, (value, type_) in enumerate(zip(values, operands, strict=True)):
            _check(f"operand {i}", value, type_[0])
        found = NumpyOp.compute(values, info.attrs)
        _check("the result", found, shape)
        if found.dtype != leaf.dtype and all(v.dtype == t for v, (_, t) in zip(values, operands, strict=True)):
            raise ValueError(f"the result is {found.dtype}, expected {leaf.dtype}")
        return found

    return run


def _check(what: str, value: Any, shape: tuple[int, ...]) -> None:
    """Check a result whose type may depend on values. Raises ValueError if it differs from the program's type."""
    found = np.shape(value)
    if len(found) != len(shape) or any(d not in (-1, n) for d, n in zip(shape, found, strict=True)):
        words = ", ".join("?" if d < 0 else str(d) for d in shape)
        raise ValueError(f"{what} has the shape {list(found)}, expected [{words}]")
