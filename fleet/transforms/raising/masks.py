"""Masks with known values: numbers, and weights that the source makes from numbers (`np.tri`), but never from random draws."""

from __future__ import annotations

import math
from collections.abc import Mapping
from weakref import WeakKeyDictionary

import numpy as np
from xdsl.ir import BlockArgument, SSAValue

from fleet.ir.dialect import ConstantOp, FleetOp
from fleet.ir.types import is_tensor, numpy_dtype, shape_of
from fleet.ir.walk import operands_first
from fleet.ir.weights import Creation, Derived, Entry, Weights
from fleet.transforms.edit import Edit
from fleet.transforms.simplify.numbers import COMPUTED, compute, known_number

NEVER = -1e8
"""The value added to the score of a hidden key is at most this; no score of a model outweighs it."""

_MOST = 1 << 22


def known_array(edit: Edit, value: SSAValue, *, small: bool = True) -> np.ndarray | None:
    """Return the value as an array if it is known and small, else None. small=False: of any size."""
    unknown = _UNKNOWN.setdefault(edit, set()) if small else set[SSAValue]()
    found: dict[SSAValue, np.ndarray] = {}
    for v in operands_first(value, lambda v: () if v in unknown or not isinstance(v.owner, FleetOp) else v.owner.operands):
        array = None if v in unknown else _known_array(edit, v, found, small=small)
        if array is None:
            unknown.add(v)
        else:
            found[v] = array
    return found.get(value)


_UNKNOWN: WeakKeyDictionary[Edit, set[SSAValue]] = WeakKeyDictionary()
"""Values of an edit that are not known, so that a long chain is walked once: an edit does not change what a value is."""


def _known_array(edit: Edit, value: SSAValue, found: Mapping[SSAValue, np.ndarray], *, small: bool) -> np.ndarray | None:
    """Compute the array of a value. found: arrays of the known operands."""
    shape = shape_of(value.type)
    if -1 in shape or (small and math.prod(shape) > _MOST):
        return None
    if isinstance(value, BlockArgument):
        argument = edit.arguments[value.index]
        if argument.kind != "weight" or (small and not _cheap(edit, argument.name)):
            return None
        return np.asarray(edit.weights[argument.name])
    op = value.owner
    if isinstance(op, ConstantOp):
        number = known_number(value)
        return np.full(shape, number, numpy_dtype(value.type))
    if not isinstance(op, FleetOp) or type(op) not in COMPUTED:
        return None
    if any(v not in found for v in op.operands):
        return None
    operands = [found[v] for v in op.operands]
    values = [o if is_tensor(v.type) else np.asarray(o).item() for o, v in zip(operands, op.operands, strict=True)]
    try:
        return np.asarray(compute(op, values))
    except (ArithmeticError, IndexError, ValueError, TypeError):
        return None


def _cheap(edit: Edit, name: str) -> bool:
    weights = edit.weights
    return _cheap_entry(weights.entries[name]) if isinstance(weights, Weights) else True


def _cheap_entry(entry: Entry | float) -> bool:
    waiting = [entry]
    while waiting:
        one = waiting.pop()
        if isinstance(one, Derived):
            waiting += one.operands
        elif not isinstance(one, np.ndarray | Creation | bool | int | float) or math.prod(getattr(one, "shape", ())) > _MOST:
            return False
    return True


def is_causal(seen: np.ndarray, n: int, m: int) -> bool:
    """Whether a boolean mask, broadcast to [..., n, m], lets query i see exactly the keys up to i + m - n, in every [n, m]."""
    try:
        whole = np.broadcast_to(seen, (*seen.shape[:-2], n, m))
    except ValueError:
        return False
    return m >= n and bool((whole == np.tri(n, m, m - n, dtype=bool)).all())
