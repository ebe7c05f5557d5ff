"""Results without copies: the same memory as an operand's, with other strides.

Values never change after they are made, so transposing, slicing, broadcasting and most reshaping need no instruction and no memory.
NumPy itself computes the strides, on an array without elements of its own.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.lib.stride_tricks import as_strided

from fleet.ir import dialect as d
from fleet.ir.dialect import FleetOp
from fleet.ir.operations.operation import attributes_of

VIEWS = (d.TransposeOp, d.ReshapeOp, d.SliceOp, d.BroadcastToOp)


@dataclass(frozen=True)
class OperandView:
    """Place of a result in its operand: offset in elements from the operand's first one, and strides in elements, by dimension."""

    offset: int
    strides: tuple[int, ...]


def view_of(op: FleetOp, shape: tuple[int, ...], strides: tuple[int, ...], result: tuple[int, ...]) -> OperandView | None:
    """Return the result of a movement as a view of an operand with that shape and strides; None if elements must be copied.

    Raises ValueError if the operation does not fit the shapes.
    """
    if not isinstance(op, VIEWS):
        return None
    found = attributes_of(op)
    whole = as_strided(np.empty(1, np.uint8), shape, strides)  # never read: only its shape and strides are used
    if isinstance(op, d.TransposeOp):
        moved = whole.transpose(found["permutation"])
    elif isinstance(op, d.BroadcastToOp):
        moved = np.broadcast_to(whole, result)
    elif isinstance(op, d.SliceOp):
        start, size = found["start"], found["size"]
        steps = found.get("step") or [1] * len(start)
        if len(start) != len(shape):
            raise ValueError(f"start {start} and size {size} of shape {shape}")
        for first, count, step, length in zip(start, size, steps, shape, strict=True):
            if count < 0 or (count and not (0 <= first < length and 0 <= first + (count - 1) * step < length)):
                raise ValueError(f"start {start}, size {size} and step {steps} of shape {shape}")
        offset = sum(s * first for s, first, n in zip(strides, start, size, strict=True) if n)
        if int(np.prod(size, dtype=np.int64)) != int(np.prod(result, dtype=np.int64)):
            raise ValueError(f"a slice of shape {tuple(size)} as result of shape {result}")
        moved = as_strided(whole, size, [s * step for s, step in zip(strides, steps, strict=True)])
        if tuple(size) != result:
            moved = _reshaped(moved, result)
        return None if moved is None else OperandView(offset, tuple(moved.strides))
    else:
        moved = _reshaped(whole, result)
        if moved is None:
            return None
    if moved.shape != result:
        raise ValueError(f"shape {moved.shape} as result of shape {result}")
    return OperandView(0, tuple(moved.strides))


def _reshaped(array: np.ndarray, shape: tuple[int, ...]) -> np.ndarray | None:
    if array.size != int(np.prod(shape, dtype=np.int64)):
        raise ValueError(f"{array.size} elements into shape {shape}")
    try:
        return np.reshape(array, shape, copy=False)
    except ValueError:
        return None
