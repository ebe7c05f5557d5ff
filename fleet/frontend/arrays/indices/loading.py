"""`x[index]`."""

from __future__ import annotations

import ast
import math
from collections.abc import Sequence

import numpy as np

from fleet.frontend.arrays import called
from fleet.frontend.arrays.emitting import known_array
from fleet.frontend.arrays.functions import order
from fleet.frontend.arrays.indices.items import (
    basic,
    expanded,
    integers,
    is_array,
    is_run_time_index,
    late_elements,
    mask_of,
    signed,
    window,
)
from fleet.frontend.arrays.making import literal
from fleet.frontend.arrays.operands import array, convert
from fleet.frontend.arrays.parts import SUPPORTED, gather, transposed
from fleet.frontend.arrays.sizes import dims_of, flat, reshaped
from fleet.frontend.arrays.truths import check, condition
from fleet.frontend.reading.errors import expression_at
from fleet.frontend.reading.evaluator import Evaluator
from fleet.frontend.reading.static import Static
from fleet.frontend.reading.values import ELLIPSIS, NumberValue, Slice, TracedArray, Value


def load(ev: Evaluator, node: ast.Subscript, value: TracedArray, index: Sequence[Value]) -> Value:
    """`value[index]`."""
    items = [_known_place(ev, i) for i in expanded(ev, node, value, index)]
    if any(isinstance(i, NumberValue) and i.symbolic for i in items) or _makes_view(items):
        return late_elements(ev, node, value, items)
    if (chosen := _extracted(ev, node, value, items)) is not None:
        return chosen
    value, items = _flat_masks(ev, node, value, items)
    arrays = [i for i, item in enumerate(items) if is_array(item)]
    if ELLIPSIS in index and len(items) == sum(isinstance(i, NumberValue) for i in items):  # the element as an array
        return value.view(basic(ev, node, value, items).ssa, scalar=False)
    if not arrays:
        whole = all(isinstance(i, NumberValue) and isinstance(i.value, int) for i in items)
        if whole and isinstance(value, Static) and (small := value.small()) is not None:
            window(ev, node, value, items)
            return literal(ev, node, small[tuple(int(i.value) for i in items if isinstance(i, NumberValue))])
        return basic(ev, node, value, items)
    items, arrays = _without_masks(ev, node, items, arrays)
    if len(arrays) > 1:
        return _with_arrays(ev, node, value, items, arrays)
    return _with_array(ev, node, value, items, arrays[0])


def _makes_view(items: Sequence[Value]) -> bool:
    """Return whether the index has only integers and slices, so that the result is a view."""
    return any(map(is_run_time_index, items)) and all(is_run_time_index(i) or not is_array(i) for i in items)


def _known_place(ev: Evaluator, item: Value) -> Value:
    """A known NumPy integer scalar as a Python number; other values unchanged."""
    if not isinstance(item, TracedArray) or not is_run_time_index(item):
        return item
    known = known_array(ev, item)
    return item if known is None else NumberValue(int(known))


def _extracted(ev: Evaluator, node: ast.Subscript, value: TracedArray, items: Sequence[Value]) -> Value | None:
    """The elements where a mask of all dimensions is true, if sizes are only the run's; None for other indices."""
    mask = mask_of(ev, node.slice, items[0]) if len(items) == 1 else None
    if mask is None or len(mask.shape) < 2 or len(mask.shape) != len(value.shape) or min(*mask.shape, *value.shape) >= 0:
        return None
    for a, b in zip(dims_of(mask), dims_of(value), strict=True):
        if isinstance(a, int) and isinstance(b, int):
            if a != b:
                ev.fail("F306", node.slice, f"a mask of shape {mask.shape} for dimensions of shape {value.shape}")
            continue
        sizes = [convert(ev, node, d if isinstance(d, NumberValue) else NumberValue(d), np.dtype(np.int64)) for d in (a, b)]
        equal = ev.domain.binary(ev, expression_at(node.slice), "equal", *sizes)
        check(ev, node, condition(ev, node, equal), "a mask chooses elements, and has not the array's shape")
    return called.call(ev, expression_at(node), "numpy.extract", [mask, value], {})


def _flat_masks(ev: Evaluator, node: ast.Subscript, value: TracedArray, items: Sequence[Value]) -> tuple[TracedArray, list[Value]]:
    """Every mask of several dimensions that only the run knows as one of them all, and the array to fit. SourceError F306."""
    found: list[Value] = []
    axis = 0
    for item in items:
        mask = mask_of(ev, node.slice, item)
        if mask is None:
            found.append(item)
            axis += item is not None
            continue
        end = axis + len(mask.shape)
        sizes = value.shape[axis:end]
        if any(a != b and a >= 0 and b >= 0 for a, b in zip(mask.shape, sizes, strict=True)):
            ev.fail("F306", node.slice, f"a mask of shape {mask.shape} for dimensions of shape {sizes}")
        if len(sizes) > 1 and known_array(ev, mask) is None:
            if any(d < 0 for d in (*sizes, *mask.shape)):
                ev.unknown(node.slice, "a mask of several dimensions whose sizes only the run knows")
            dims = dims_of(value)
            value = TracedArray(reshaped(ev, node, value, [*dims[:axis], math.prod(sizes), *dims[end:]]).ssa)
            mask, end = flat(ev, node, mask), axis + 1
        found.append(mask)
        axis = end
    return value, found


def _without_masks(
    ev: Evaluator, node: ast.Subscript, items: Sequence[Value], arrays: Sequence[int]
) -> tuple[list[Value], list[int]]:
    """Masks as the places where they are true; the items that are arrays now."""
    found: list[Value] = []
    for i, item in enumerate(items):
        mask = mask_of(ev, node.slice, item) if i in arrays else None
        if mask is None:
            found.append(item)
            continue
        if not mask.shape:
            ev.fail("F503", node.slice, "an index of True or False is not supported", SUPPORTED)
        found += order.places_of(ev, node.slice, mask)
    return found, [i for i, item in enumerate(found) if is_array(item)]


def _with_arrays(ev: Evaluator, node: ast.Subscript, value: TracedArray, items: list[Value], arrays: Sequence[int]) -> Value:
    """Several arrays of integers side by side (single integers among them count as arrays): one gather of all their dimensions."""
    first, last = arrays[0], arrays[-1]
    while first > 0 and isinstance(items[first - 1], NumberValue):
        first -= 1
    while last + 1 < len(items) and isinstance(items[last + 1], NumberValue):
        last += 1
    around = [*items[:first], *items[last + 1 :]]
    if any(not is_array(i) and not isinstance(i, NumberValue) for i in items[first : last + 1]) or any(
        isinstance(i, NumberValue) for i in around
    ):
        return _with_arrays_apart(ev, node, value, items)
    rest = [Slice(None, None) if first <= i <= last else item for i, item in enumerate(items)]
    base = basic(ev, node, value, rest) if any(i != Slice(None, None) for i in rest) else value
    parts = [integers(ev, node.slice, item) for item in items[first : last + 1]]
    axes = range(first, last + 1)
    found = order.take(ev, node.slice, _first(ev, node, base, axes), 0, parts)
    return _back(ev, node, found, first, len(found.shape) - len(base.shape) + len(axes))


def _with_arrays_apart(ev: Evaluator, node: ast.Subscript, value: TracedArray, items: list[Value]) -> Value:
    """Arrays and integers with slices between them: the dimensions of what they choose come first."""
    chosen = [i for i, item in enumerate(items) if is_array(item) or isinstance(item, NumberValue)]
    rest = [Slice(None, None) if i in chosen else item for i, item in enumerate(items)]
    base = basic(ev, node, value, rest) if any(i != Slice(None, None) for i in rest) else value
    others = [i for i in range(len(items)) if i not in chosen]
    parts = [integers(ev, node.slice, items[i]) for i in chosen]
    return order.take(ev, node.slice, transposed(ev, node, base, [*chosen, *others]), 0, parts)


def _with_array(ev: Evaluator, node: ast.Subscript, value: TracedArray, items: list[Value], at: int) -> Value:
    """One array of integers among basic items: these first, then a gather along its dimension."""
    rest = [Slice(None, None) if i == at else item for i, item in enumerate(items)]
    advanced = [i for i, item in enumerate(items) if i == at or isinstance(item, NumberValue)]
    apart = advanced != list(range(advanced[0], advanced[-1] + 1))
    axis = sum(1 for i in rest[:at] if i is None or isinstance(i, Slice))
    base = basic(ev, node, value, rest) if any(i != Slice(None, None) for i in rest) else value
    places = signed(ev, node, array(ev, node.slice, items[at]))
    found = gather(ev, node, _first(ev, node, base, [axis]), places, 0, dimension=axis)
    if apart:  # indices that do not stand side by side: their dimensions come first
        return found
    return _back(ev, node, found, axis, len(places.shape))


def _first(ev: Evaluator, node: ast.AST, value: TracedArray, axes: Sequence[int]) -> TracedArray:
    """The array with some dimensions first.

    What arrays of indices choose lies outermost in NumPy's memory wherever its dimensions stand: that decides the order of later
    sums, and whether a reshape copies.
    """
    others = [a for a in range(len(value.shape)) if a not in axes]
    return transposed(ev, node, value, [*axes, *others]) if axes[0] else value


def _back(ev: Evaluator, node: ast.AST, value: TracedArray, axis: int, count: int) -> TracedArray:
    """The array with its first dimensions, so many, put where `axis` is."""
    if not axis:
        return value
    return transposed(ev, node, value, [*range(count, count + axis), *range(count), *range(count + axis, len(value.shape))])
