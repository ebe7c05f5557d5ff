"""Masks whose values are known: numbers, and weights that the source makes of numbers (`np.tri`), never of random draws."""

from __future__ import annotations

import math

import numpy as np
from xdsl.ir import BlockArgument, SSAValue

from fleet.ir.dialect import ConstantOp, FleetOp
from fleet.ir.types import is_tensor, numpy_dtype, shape_of
from fleet.ir.weights import Creation, Derived, Entry, Weights
from fleet.transforms.edit import Edit
from fleet.transforms.numbers import compute, computes, known_number

__all__ = ["NEVER", "is_causal", "known_array"]

NEVER = -1e8
"""What is added to the score of a key that must not be seen is at most this: no score of a model outweighs it."""

_MOST = 1 << 22


def known_array(edit: Edit, value: SSAValue) -> np.ndarray | None:
    """The value as an array where it is known and small; None otherwise."""
    shape = shape_of(value.type)
    if -1 in shape or math.prod(shape) > _MOST:
        return None
    if isinstance(value, BlockArgument):
        argument = edit.arguments[value.index]
        if argument.kind != "weight" or not _cheap(edit, argument.name):
            return None
        return np.asarray(edit.weights[argument.name])
    op = value.owner
    if isinstance(op, ConstantOp):
        number = known_number(value)
        return np.full(shape, number, numpy_dtype(value.type))
    if not isinstance(op, FleetOp) or not computes(op):
        return None
    operands = [known_array(edit, v) for v in op.operands]
    if any(o is None for o in operands):
        return None
    values = [o if is_tensor(v.type) else np.asarray(o).item() for o, v in zip(operands, op.operands, strict=True)]
    try:
        return np.asarray(compute(op, values))
    except (ArithmeticError, ValueError, TypeError):
        return None


def _cheap(edit: Edit, name: str) -> bool:
    weights = edit.weights
    return _cheap_entry(weights.entries[name]) if isinstance(weights, Weights) else True


def _cheap_entry(entry: Entry | float) -> bool:
    if isinstance(entry, Derived):
        return all(_cheap_entry(o) for o in entry.operands)
    return isinstance(entry, np.ndarray | Creation | bool | int | float) and math.prod(getattr(entry, "shape", ())) <= _MOST


def is_causal(seen: np.ndarray, n: int, m: int) -> bool:
    """Whether a boolean mask, broadcast to [n, m], lets query i see the keys up to i + m - n and no others."""
    try:
        whole = np.broadcast_to(seen, (n, m)) if seen.ndim <= 2 else np.broadcast_to(seen.reshape(seen.shape[-2:]), (n, m))
    except ValueError:
        return False
    return m >= n and bool(np.array_equal(whole, np.tri(n, m, m - n, dtype=bool)))
