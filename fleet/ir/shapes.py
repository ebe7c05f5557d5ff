"""Shapes of results: broadcasting, axes, sizes. A dimension of -1 (`UNKNOWN`) is known only when the program runs."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np
from xdsl.ir import Attribute

from fleet.ir.types import is_tensor, numpy_dtype, shape_of, spelling

UNKNOWN = -1
"""A dimension that is known only when the program runs; `fleet.ir.types` makes it xDSL's DYNAMIC_INDEX, `?` in types."""

MAX_ELEMENTS = 1 << 31
"""Largest number of elements of a tensor in a program; a guard against sources that would exhaust memory."""


class InferenceError(Exception):
    """The operands do not fit the operation; the message says how, without a place."""


def contiguous(shape: Sequence[int]) -> tuple[int, ...]:
    """Return the strides, in elements, of a C-contiguous array."""
    strides: list[int] = []
    step = 1
    for size in reversed(shape):
        strides.append(step)
        step *= size
    return tuple(reversed(strides))


def broadcast(lhs: tuple[int, ...], rhs: tuple[int, ...], what: str) -> tuple[int, ...]:
    """Broadcast two shapes as NumPy does. Raises InferenceError that names both.

    An unknown dimension with 1 stays unknown; with any other size it must turn out to be that size (or 1).
    """
    rank = max(len(lhs), len(rhs))
    result: list[int] = []
    for a, b in zip((1,) * (rank - len(lhs)) + lhs, (1,) * (rank - len(rhs)) + rhs, strict=True):
        if b in (a, 1):
            result.append(a)
        elif a in (1, UNKNOWN):
            result.append(b)
        elif b == UNKNOWN:
            result.append(a)
        else:
            raise InferenceError(f"{what} of shapes {shape_words(lhs)} and {shape_words(rhs)}, which do not broadcast")
    return tuple(result)


def unify(a: int, b: int) -> int | None:
    """Return the common size of two equal dimensions; None if they differ."""
    if a == UNKNOWN:
        return b
    return a if b in (a, UNKNOWN) else None


def check_size(shape: Sequence[int]) -> None:
    """Raises InferenceError for more than `MAX_ELEMENTS` (unknown dimensions count as 1)."""
    if math.prod(d for d in shape if d != UNKNOWN) > MAX_ELEMENTS:
        raise InferenceError(f"a tensor of shape {shape_words(shape)} has more than {MAX_ELEMENTS} elements")


def tensor_of(type_: Attribute, name: str) -> tuple[tuple[int, ...], np.dtype]:
    """Shape and dtype. Raises InferenceError for a Python number."""
    if not is_tensor(type_):
        raise InferenceError(f"{name} needs an array, found the Python number {spelling(type_)}")
    return shape_of(type_), numpy_dtype(type_)


def normal_axis(axis: int, rank: int) -> int:
    """The axis counted from the front. Raises InferenceError."""
    if not -rank <= axis < rank:
        raise InferenceError(f"axis {axis} is out of bounds for an array of rank {rank}")
    return axis % rank


def shape_words(shape: Sequence[int]) -> str:
    """Return a shape as Python prints it, with `?` for unknown dimensions."""
    return "(" + ", ".join("?" if d == UNKNOWN else str(d) for d in shape) + ("," if len(shape) == 1 else "") + ")"
