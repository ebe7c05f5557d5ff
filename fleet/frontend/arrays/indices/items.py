"""The items of an index, and what the basic ones among them take of an array."""

from __future__ import annotations

import ast
from collections.abc import Sequence
from typing import TypeAlias

import numpy as np

from fleet.frontend.arrays.emitting import builder_of, cast, known_array
from fleet.frontend.arrays.functions import order
from fleet.frontend.arrays.functions.windows import places
from fleet.frontend.arrays.operands import array
from fleet.frontend.arrays.parts import SUPPORTED, gather
from fleet.frontend.arrays.sizes import bounded_slice, dims_of, reshaped
from fleet.frontend.reading.errors import expression_at
from fleet.frontend.reading.evaluator import Evaluator
from fleet.frontend.reading.intervals import is_inside
from fleet.frontend.reading.static import Static
from fleet.frontend.reading.values import ELLIPSIS, List, NumberValue, RangeValue, Slice, TracedArray, Value, number_behind
from fleet.frontend.reading.wording import words


def is_array(item: Value) -> bool:
    """Return whether it is an array or sequence of places."""
    return isinstance(item, TracedArray | List | tuple | RangeValue)


def is_run_time_index(item: Value) -> bool:
    """Return whether an index is a run-time number or NumPy integer scalar. (NumPy copies for a 0-d array.)"""
    if isinstance(item, TracedArray):
        return item.scalar and item.dtype.kind in "iu"
    return isinstance(item, NumberValue) and item.symbolic


def expanded(ev: Evaluator, node: ast.AST, value: TracedArray, given: Sequence[Value]) -> list[Value]:
    """Expand `...` and append missing items: one item for each dimension."""
    items = [number_behind(v) for v in given]
    place = node.slice if isinstance(node, ast.Subscript) else node
    for i, item in enumerate(items):
        if isinstance(item, NumberValue) and item.truth:
            ev.fail("F503", place, "an index of True or False is not supported", SUPPORTED)
        if (
            isinstance(item, Static)
            and not item.shape
            and (known := item.known()) is not None
            and not isinstance(known, bool | float)
        ):
            items[i] = NumberValue(known)
    dots = [i for i, item in enumerate(items) if item is ELLIPSIS]
    used = sum(_dims_taken(item) for item in items) - len(dots)
    missing = len(value.shape) - used
    if missing < 0:
        ev.fail("F312", place, f"{used} indices for an array of rank {len(value.shape)} (shape {value.shape})")
    if len(dots) > 1:
        ev.fail("F312", place, "an index can have one `...` only")
    at = dots[0] if dots else len(items)
    if dots and not missing and any(map(is_array, items)) and all(map(_any_choice, (items[:at], items[at + 1 :]))):
        what = "an index with an empty `...` between an array of indices and another index"
        ev.fail("F405", place, what, "NumPy puts the dimensions of the indices first; index in two steps")
    return [*items[:at], *([Slice(None, None)] * missing), *items[at + len(dots) :]]


def _any_choice(items: Sequence[Value]) -> bool:
    return any(is_array(item) or isinstance(item, NumberValue) for item in items)


def _dims_taken(item: Value) -> int:
    """Return the number of dimensions that an item of an index takes: a mask takes as many as it has."""
    return 0 if item is None else len(item.shape) if isinstance(item, TracedArray) and item.dtype.kind == "b" else 1


def mask_of(ev: Evaluator, node: ast.AST, item: Value) -> TracedArray | None:
    """The item as an array of truth values, if it is one."""
    found = array(ev, node, item) if isinstance(item, TracedArray | List) else None
    return found if found is not None and found.dtype.kind == "b" else None


def integers(ev: Evaluator, node: ast.AST, item: Value) -> np.ndarray | TracedArray:
    """An index's array; as numbers if they are known."""
    if isinstance(item, NumberValue) and not item.symbolic:
        return np.array(ev.integer(node, item, "an index"))
    found = array(ev, node, item)
    known = known_array(ev, found)
    if found.dtype.kind not in "iu" and not (known is not None and not known.size):
        ev.fail("F405", node, f"an index array of dtype {found.dtype} is not supported", SUPPORTED)
    return signed(ev, node, found) if known is None else known.astype(np.int64)


def signed(ev: Evaluator, node: ast.AST, indices: TracedArray) -> TracedArray:
    """Indices as NumPy counts: those without a sign become int64, bit by bit."""
    return cast(ev, node, indices, np.dtype(np.int64)) if indices.dtype.kind == "u" else indices


def late_elements(ev: Evaluator, node: ast.expr, value: TracedArray, items: list[Value]) -> Value:
    """Elements at run-time indices, `x[n - 1]`: one gather an index. The result is a view."""
    place = node.slice if isinstance(node, ast.Subscript) else node
    late = [i for i, item in enumerate(items) if is_run_time_index(item)]
    if any(is_array(item) and not is_run_time_index(item) for item in items):
        ev.unknown(place, "an index of an array and of a size that only the run knows")
    numbers = len(items) > 1 and all(is_run_time_index(i) or _is_number(i) for i in items)
    if numbers and all(_is_proved(ev, item, size) for item, size in zip(items, value.shape, strict=True)):
        parts = [integers(ev, place, item) for item in items]
        return TracedArray(order.take(ev, node, value, 0, parts, checked=False).ssa)
    rest = [Slice(None, None) if i in late else item for i, item in enumerate(items)]
    found = basic(ev, node, value, rest) if any(i != Slice(None, None) for i in rest) else value
    for i in reversed(late):
        axis = sum(1 for item in rest[:i] if item is None or isinstance(item, Slice))
        found = gather(ev, node, found, signed(ev, place, array(ev, place, items[i])), axis)
    return value.view(found.ssa) if found.shape else TracedArray(found.ssa)


def _is_number(item: Value) -> bool:
    return isinstance(item, NumberValue) and isinstance(item.value, int)


def _is_proved(ev: Evaluator, item: Value, size: int) -> bool:
    """Return True if an integer index is proved to name an element of a dimension."""
    if isinstance(item, NumberValue) and not item.symbolic:
        return -size <= item.value < size
    return isinstance(item, NumberValue | TracedArray) and item.ssa is not None and is_inside(ev, item.ssa, size)


def basic(ev: Evaluator, node: ast.AST, value: TracedArray, items: Sequence[Value]) -> TracedArray:
    """The view of integers, slices and None, one for each dimension."""
    start, size, step, shape, late = window(ev, node, value, items)
    found = value
    if tuple(size) != value.shape or any(s != 1 for s in step) or any(a != 0 for a in start):
        steps = {"step": step} if any(s != 1 for s in step) else {}
        found = TracedArray(builder_of(ev).emit(node, "slice", [value.ssa], start=start, size=size, **steps))
    at = {axis: places(ev, expression_at(node), part, found.shape[axis]) for axis, part in late}
    for axis, indices in at.items():
        if indices is not None:
            found = gather(ev, expression_at(node), found, indices, axis)
    late = [(axis, part) for axis, part in late if at[axis] is None]
    if late:
        found = TracedArray(bounded_slice(ev, node, found, late))
    if tuple(shape) != tuple(range(len(size))):
        dims = dims_of(found)
        found = reshaped(ev, node, found, [1 if axis is None else dims[axis] for axis in shape])
    return value.view(found.ssa) if shape else TracedArray(found.ssa)


_Window: TypeAlias = "tuple[list[int], list[int], list[int], list[int | None], list[tuple[int, Slice]]]"


def window(ev: Evaluator, node: ast.AST, value: TracedArray, items: Sequence[Value]) -> _Window:
    """start, size, step of every dimension; the result's dimensions (None: a new one); slices whose size only the run knows."""
    place = node.slice if isinstance(node, ast.Subscript) else node
    start: list[int] = []
    size: list[int] = []
    step: list[int] = []
    shape: list[int | None] = []
    late: list[tuple[int, Slice]] = []
    for item in items:
        if item is None:
            shape.append(None)
            continue
        dim = value.shape[len(start)]
        if isinstance(item, Slice):
            shape.append(len(start))
            found = _part(item, dim)
            if found is None:
                late.append((len(start), item))
                found = 0, dim, 1
            start.append(found[0])
            size.append(found[1])
            step.append(found[2] if found[1] != 0 else 1)
        elif isinstance(item, NumberValue) and isinstance(item.value, int):
            if dim >= 0 and not -dim <= item.value < dim:
                cause = IndexError(f"index {item.value} is out of bounds for axis {len(start)} with size {dim}")
                ev.refuse("F306", place, f"index {item.value} is out of bounds for dimension {len(start)} of size {dim}", cause)
            start.append(item.value % dim if dim >= 0 else item.value)  # else it counts from the end in the run
            size.append(1)
            step.append(1)
        else:
            ev.fail("F405", place, f"{words(item)} is not supported as an index", SUPPORTED)
    return start, size, step, shape, late


def _part(item: Slice, dim: int) -> tuple[int, int, int] | None:
    """start, size and step of a slice; of an unknown dimension size -1 is all that is left. None: only the run can say."""
    if isinstance(item.start, NumberValue) or isinstance(item.stop, NumberValue):
        return None
    by = item.step or 1
    if dim < 0:
        first = 0 if item.start is None and by > 0 else -1 if item.start is None else item.start
        if by > 0 and item.stop is not None and 0 <= item.stop <= max(first, 0):
            return 0, 0, 1  # empty, whatever the size
        ends = item.stop is None and (first >= 0 if by > 0 else item.start is None)
        return (first, -1, by) if ends else None
    first, last, by = slice(item.start, item.stop, item.step).indices(dim)
    length = len(range(first, last, by))
    return (first if length else 0), length, by
