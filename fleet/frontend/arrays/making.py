"""Arrays that a source makes, known or as recipes, and how large they may be."""

from __future__ import annotations

import ast
import math

import numpy as np

from fleet.core.room import limit
from fleet.frontend.reading.evaluator import Evaluator
from fleet.frontend.reading.static import MAX_BYTES, MAX_TOTAL, Static
from fleet.ir.types import DTYPES
from fleet.ir.weights import Entry

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
    made = ev.domain.made
    most = min(MAX_TOTAL, made.limit)
    if made.total > most:
        ev.fail("F603", node, f"the source makes more than {most / (1 << 30):.3g} GiB of arrays", "give large arrays as weights")
    _check_room(ev, node, made.total, "what the source makes")


def static(ev: Evaluator, node: ast.AST, entry: Entry, kind: str, *, scalar: bool | None = None) -> Static:
    """An array or recipe as a value. SourceError F403 for another dtype, F603 if it is too large."""
    if entry.dtype.name not in DTYPES:
        ev.fail("F403", node, f"an array of {entry.dtype}", f"supported are {', '.join(DTYPES)}")
    check_size(ev, node, tuple(entry.shape), entry.dtype)
    made = ev.domain.made
    made.total += math.prod(entry.shape) * entry.dtype.itemsize
    check_total(ev, node)
    return Static(made, entry, kind, scalar=scalar)


def literal(ev: Evaluator, node: ast.AST, value: object) -> Static:
    """A small array or NumPy scalar that is known."""
    part = np.array(value, order="C")
    return static(ev, node, part, "array", scalar=not part.shape)
