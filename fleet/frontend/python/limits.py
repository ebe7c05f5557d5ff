"""Limits on the sizes of arrays that a source makes."""

from __future__ import annotations

import ast
import math
from typing import TYPE_CHECKING

import numpy as np

from fleet.core.room import limit
from fleet.frontend.arrays.static import MAX_BYTES, MAX_TOTAL, Made

if TYPE_CHECKING:
    from fleet.frontend.python.evaluator import Evaluator

__all__ = ["check_size", "check_total"]

_MAX_RANK = 32
_SMALL = 1 << 20


def check_size(ev: Evaluator, node: ast.AST, shape: tuple[int, ...], dtype: np.dtype) -> None:
    """SourceError F303 or F603 if an array is malformed or exceeds the limit for one array."""
    if any(d < 0 for d in shape):
        ev.fail("F303", node, f"an array of shape {shape}: dimensions are not negative")
    if len(shape) > _MAX_RANK:
        ev.fail("F303", node, f"an array of {len(shape)} dimensions, at most {_MAX_RANK} are possible")
    size = math.prod(shape) * dtype.itemsize
    if size > MAX_BYTES:
        what = f"an array of shape {shape} ({size / (1 << 30):.3g} GiB); at most 2^30 bytes may be made by the source"
        ev.fail("F603", node, what, "give large arrays as weights or inputs")
    _check_room(ev, node, size, f"an array of shape {shape}")


def _check_room(ev: Evaluator, node: ast.AST, size: int, what: str) -> None:
    if size > _SMALL and size > (most := limit()):
        ev.fail("F603", node, f"{what} needs {size:,} bytes; the limit is {most:,}", "make it smaller, or set FLEET_MEMORY")


def check_total(ev: Evaluator, node: ast.AST) -> None:
    """SourceError F603 if the arrays together exceed the limit for a program."""
    made: Made = ev.domain.made  # pyright: ignore[reportAttributeAccessIssue]
    most = min(MAX_TOTAL, made.limit)
    if made.total > most:
        ev.fail("F603", node, f"the source makes more than {most / (1 << 30):.3g} GiB of arrays", "give large arrays as weights")
    _check_room(ev, node, made.total, "what the source makes")
