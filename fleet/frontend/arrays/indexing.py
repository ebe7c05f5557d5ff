"""Parts of arrays: slices with static bounds, integers, None, `...`, arrays of integers; and assignment to parts."""

from __future__ import annotations

import ast
import math
from collections.abc import Sequence
from typing import NoReturn, TypeAlias

import numpy as np

from fleet.frontend.arrays import called
from fleet.frontend.arrays.emitting import builder_of, cast, emit, known_array
from fleet.frontend.arrays.functions import order
from fleet.frontend.arrays.functions.windows import places
from fleet.frontend.arrays.making import literal, static
from fleet.frontend.arrays.memory import change, check_writable, joined
from fleet.frontend.arrays.operands import array, convert, elementwise, select
from fleet.frontend.arrays.parts import SUPPORTED, gather, transposed
from fleet.frontend.arrays.sizes import bounded_slice, dims_of, flat, reshaped
from fleet.frontend.arrays.truths import check, condition
from fleet.frontend.reading.errors import expression_at
from fleet.frontend.reading.evaluator import Evaluator
from fleet.frontend.reading.intervals import is_inside
from fleet.frontend.reading.static import Static
from fleet.frontend.reading.values import ELLIPSIS, List, NumberValue, RangeValue, Slice, TracedArray, Value, number_behind
from fleet.frontend.reading.wording import words

_MAX_SCATTER = 1 << 20


def load(ev: Evaluator, node: ast.Subscript, value: TracedArray, index: Sequence[Value]) -> Value:
    """`value[index]`."""
    items = [_known_place(ev, i) for i in _expanded(ev, node, value, index)]
    if any(isinstance(i, NumberValue) and i.symbolic for i in items) or _makes_view(items):
        return _late_elements(ev, node, value, items)
    if (chosen := _extracted(ev, node, value, items)) is not None:
        return chosen
    value, items = _flat_masks(ev, node, value, items)
    arrays = [i for i, item in enumerate(items) if _is_array(item)]
    if ELLIPSIS in index and len(items) == sum(isinstance(i, NumberValue) for i in items):  # the element as an array
        return value.view(_basic(ev, node, value, items).ssa, scalar=False)
    if not arrays:
        whole = all(isinstance(i, NumberValue) and isinstance(i.value, int) for i in items)
        if whole and isinstance(value, Static) and (small := value.small()) is not None:
            _window(ev, node, value, items)
            return literal(ev, node, small[tuple(int(i.value) for i in items if isinstance(i, NumberValue))])
        return _basic(ev, node, value, items)
    items, arrays = _without_masks(ev, node, items, arrays)
    if len(arrays) > 1:
        return _with_arrays(ev, node, value, items, arrays)
    return _with_array(ev, node, value, items, arrays[0])


def _is_array(item: Value) -> bool:
    return isinstance(item, TracedArray | List | tuple | RangeValue)


def _is_run_time_index(item: Value) -> bool:
    """Return whether an index is a run-time number or NumPy integer scalar. (NumPy copies for a 0-d array.)"""
    if isinstance(item, TracedArray):
        return item.scalar and item.dtype.kind in "iu"
    return isinstance(item, NumberValue) and item.symbolic


def _makes_view(items: Sequence[Value]) -> bool:
    """Return whether the index has only integers and slices, so that the result is a view."""
    return any(map(_is_run_time_index, items)) and all(_is_run_time_index(i) or not _is_array(i) for i in items)


def _known_place(ev: Evaluator, item: Value) -> Value:
    """A known NumPy integer scalar as a Python number; other values unchanged."""
    if not isinstance(item, TracedArray) or not _is_run_time_index(item):
        return item
    known = known_array(ev, item)
    return item if known is None else NumberValue(int(known))


def _expanded(ev: Evaluator, node: ast.AST, value: TracedArray, given: Sequence[Value]) -> list[Value]:
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
    return [*items[:at], *([Slice(None, None)] * missing), *items[at + len(dots) :]]


def _dims_taken(item: Value) -> int:
    """Return the number of dimensions that an item of an index takes: a mask takes as many as it has."""
    return 0 if item is None else len(item.shape) if isinstance(item, TracedArray) and item.dtype.kind == "b" else 1


def _mask(ev: Evaluator, node: ast.AST, item: Value) -> TracedArray | None:
    """The item as an array of truth values, if it is one."""
    found = array(ev, node, item) if isinstance(item, TracedArray | List) else None
    return found if found is not None and found.dtype.kind == "b" else None


def _extracted(ev: Evaluator, node: ast.Subscript, value: TracedArray, items: Sequence[Value]) -> Value | None:
    """The elements where a mask of all dimensions is true, if sizes are only the run's; None for other indices."""
    mask = _mask(ev, node.slice, items[0]) if len(items) == 1 else None
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
        mask = _mask(ev, node.slice, item)
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
        mask = _mask(ev, node.slice, item) if i in arrays else None
        if mask is None:
            found.append(item)
            continue
        if not mask.shape:
            ev.fail("F503", node.slice, "an index of True or False is not supported", SUPPORTED)
        found += order.places_of(ev, node.slice, mask)
    return found, [i for i, item in enumerate(found) if _is_array(item)]


def _with_arrays(ev: Evaluator, node: ast.Subscript, value: TracedArray, items: list[Value], arrays: Sequence[int]) -> Value:
    """Several arrays of integers side by side (single integers among them count as arrays): one gather of all their dimensions."""
    first, last = arrays[0], arrays[-1]
    while first > 0 and isinstance(items[first - 1], NumberValue):
        first -= 1
    while last + 1 < len(items) and isinstance(items[last + 1], NumberValue):
        last += 1
    around = [*items[:first], *items[last + 1 :]]
    if any(not _is_array(i) and not isinstance(i, NumberValue) for i in items[first : last + 1]) or any(
        isinstance(i, NumberValue) for i in around
    ):
        return _with_arrays_apart(ev, node, value, items)
    rest = [Slice(None, None) if first <= i <= last else item for i, item in enumerate(items)]
    base = _basic(ev, node, value, rest) if any(i != Slice(None, None) for i in rest) else value
    parts = [_integers(ev, node.slice, item) for item in items[first : last + 1]]
    axes = range(first, last + 1)
    found = order.take(ev, node.slice, _first(ev, node, base, axes), 0, parts)
    return _back(ev, node, found, first, len(found.shape) - len(base.shape) + len(axes))


def _with_arrays_apart(ev: Evaluator, node: ast.Subscript, value: TracedArray, items: list[Value]) -> Value:
    """Arrays and integers with slices between them: the dimensions of what they choose come first."""
    chosen = [i for i, item in enumerate(items) if _is_array(item) or isinstance(item, NumberValue)]
    rest = [Slice(None, None) if i in chosen else item for i, item in enumerate(items)]
    base = _basic(ev, node, value, rest) if any(i != Slice(None, None) for i in rest) else value
    others = [i for i in range(len(items)) if i not in chosen]
    parts = [_integers(ev, node.slice, items[i]) for i in chosen]
    return order.take(ev, node.slice, transposed(ev, node, base, [*chosen, *others]), 0, parts)


def _integers(ev: Evaluator, node: ast.AST, item: Value) -> np.ndarray | TracedArray:
    """An index's array; as numbers if they are known."""
    if isinstance(item, NumberValue) and not item.symbolic:
        return np.array(ev.integer(node, item, "an index"))
    found = array(ev, node, item)
    known = known_array(ev, found)
    if found.dtype.kind not in "iu" and not (known is not None and not known.size):
        ev.fail("F405", node, f"an index array of dtype {found.dtype} is not supported", SUPPORTED)
    return _signed(ev, node, found) if known is None else known.astype(np.int64)


def _signed(ev: Evaluator, node: ast.AST, indices: TracedArray) -> TracedArray:
    """Indices as NumPy counts: those without a sign become int64, bit by bit."""
    return cast(ev, node, indices, np.dtype(np.int64)) if indices.dtype.kind == "u" else indices


def _with_array(ev: Evaluator, node: ast.Subscript, value: TracedArray, items: list[Value], at: int) -> Value:
    """One array of integers among basic items: these first, then a gather along its dimension."""
    rest = [Slice(None, None) if i == at else item for i, item in enumerate(items)]
    advanced = [i for i, item in enumerate(items) if i == at or isinstance(item, NumberValue)]
    apart = advanced != list(range(advanced[0], advanced[-1] + 1))
    axis = sum(1 for i in rest[:at] if i is None or isinstance(i, Slice))
    base = _basic(ev, node, value, rest) if any(i != Slice(None, None) for i in rest) else value
    places = _signed(ev, node, array(ev, node.slice, items[at]))
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


def _late_elements(ev: Evaluator, node: ast.expr, value: TracedArray, items: list[Value]) -> Value:
    """Elements at run-time indices, `x[n - 1]`: one gather an index. The result is a view."""
    place = node.slice if isinstance(node, ast.Subscript) else node
    late = [i for i, item in enumerate(items) if _is_run_time_index(item)]
    if any(_is_array(item) and not _is_run_time_index(item) for item in items):
        ev.unknown(place, "an index of an array and of a size that only the run knows")
    numbers = len(items) > 1 and all(_is_run_time_index(i) or _is_number(i) for i in items)
    if numbers and all(_is_proved(ev, item, size) for item, size in zip(items, value.shape, strict=True)):
        parts = [_integers(ev, place, item) for item in items]
        return TracedArray(order.take(ev, node, value, 0, parts, checked=False).ssa)
    rest = [Slice(None, None) if i in late else item for i, item in enumerate(items)]
    found = _basic(ev, node, value, rest) if any(i != Slice(None, None) for i in rest) else value
    for i in reversed(late):
        axis = sum(1 for item in rest[:i] if item is None or isinstance(item, Slice))
        found = gather(ev, node, found, _signed(ev, place, array(ev, place, items[i])), axis)
    return value.view(found.ssa) if found.shape else TracedArray(found.ssa)


def _is_number(item: Value) -> bool:
    return isinstance(item, NumberValue) and isinstance(item.value, int)


def _is_proved(ev: Evaluator, item: Value, size: int) -> bool:
    """Return True if an integer index is proved to name an element of a dimension."""
    if isinstance(item, NumberValue) and not item.symbolic:
        return -size <= item.value < size
    return isinstance(item, NumberValue | TracedArray) and item.ssa is not None and is_inside(ev, item.ssa, size)


def _basic(ev: Evaluator, node: ast.AST, value: TracedArray, items: Sequence[Value]) -> TracedArray:
    start, size, step, shape, late = _window(ev, node, value, items)
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


def _window(ev: Evaluator, node: ast.AST, value: TracedArray, items: Sequence[Value]) -> _Window:
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


# ---- assignment


def store(ev: Evaluator, node: ast.expr, owner: TracedArray, index: Sequence[Value], value: Value) -> None:
    """`owner[index] = value`: the array gets a new value of the IR; every name of it sees that."""
    check_writable(ev, node, owner)
    if any(d < 0 for d in owner.shape):
        ev.unknown(node, "assignment to a part of an array whose size only the run knows")
    new = _converted(ev, node, value, owner.dtype)
    mask = _mask(ev, node, index[0]) if len(index) == 1 else None
    if mask is not None and len(mask.shape) == len(owner.shape) and len(new.shape) > 1:
        what = f"an array of shape {new.shape} cannot be assigned by a mask of all dimensions"
        ev.fail("F301", node, what, "assign a number or a vector")
    index = [_literal(ev, node, item) for item in index]
    if any(not _is_known_index(ev, item) for item in index):
        _store_late(ev, node, owner, index, new)
        return
    where = _targets(ev, node, owner, index)
    try:
        fits = np.broadcast_shapes(new.shape, where.shape) == where.shape or math.prod(new.shape) == where.size
    except ValueError:
        fits = False
    if not fits or (len(new.shape) > len(where.shape) and math.prod(new.shape) != where.size):
        _refuse_shape(ev, node, new, where.shape)
    if len(new.shape) > len(where.shape):
        new = reshaped(ev, node, new, where.shape)
    if where.size == 0:
        return
    if new.shape != where.shape:
        new = emit(ev, node, "broadcast_to", [new], shape=list(where.shape))
    change(ev, node, owner, joined(ev, node, owner, new, where).ssa)


def _is_known_index(ev: Evaluator, item: Value) -> bool:
    """Return whether the positions named by an index item are known."""
    if isinstance(item, TracedArray):
        return known_array(ev, item) is not None
    return not (isinstance(item, NumberValue) and item.symbolic)


def _literal(ev: Evaluator, node: ast.AST, item: Value) -> Value:
    """An index's array or list as a literal if its elements are known, else None."""
    if isinstance(item, List | tuple | RangeValue):
        item = array(ev, node, item)
        if 0 in item.shape:
            return static(ev, node, np.zeros(item.shape, np.int64), "places", scalar=False)
    if not isinstance(item, TracedArray):
        return item
    known = known_array(ev, item)
    return item if known is None else static(ev, node, np.array(known, order="C"), "places", scalar=item.scalar)


def _store_late(ev: Evaluator, node: ast.expr, owner: TracedArray, index: Sequence[Value], new: TracedArray) -> None:
    """Assignment by a mask, or by arrays of integers, that only the run knows."""
    mask = _mask(ev, node, index[0]) if len(index) == 1 else None
    mask = order.mask_of(ev, node, index) if mask is None else mask
    if mask is not None:
        order.fill_where(ev, node, owner, mask, new)
        return
    items = _expanded(ev, node, owner, index)
    if any(_mask(ev, node, i) is not None for i in items):
        what = "assignment by this mix of a mask and of other indices that are known only when the model runs"
        ev.fail("F504", node, what, "use np.where(mask, new, old)")
    arrays = [i for i, item in enumerate(items) if _is_array(item) and not _is_run_time_index(item)]
    if arrays:  # single places beside an array are arrays too
        arrays = [i for i, item in enumerate(items) if _is_array(item) or isinstance(item, NumberValue)]
    elif any(isinstance(item, Slice | None) for item in items):
        part = _late_elements(ev, node, owner, items)
        assert isinstance(part, TracedArray)
        change(ev, node, part, _as_wide(ev, node, new, part.shape).ssa)
        return
    else:
        arrays = list(range(len(items)))
    rest = [Slice(None, None) if i in arrays else item for i, item in enumerate(items)]
    base = _basic(ev, node, owner, rest) if any(i != Slice(None, None) for i in rest) else owner
    axes = [sum(item is None or isinstance(item, Slice) for item in rest[:i]) for i in arrays]
    parts = [_integers(ev, node, items[i]) for i in arrays]
    _put_along(ev, node, base, axes, parts, new)


def _put_along(
    ev: Evaluator,
    node: ast.AST,
    base: TracedArray,
    axes: Sequence[int],
    parts: Sequence[np.ndarray | TracedArray],
    new: TracedArray,
) -> None:
    """Assign through integer arrays along some axes: transpose those axes to the front and scatter."""
    if any(d < 0 for p in parts for d in p.shape):
        _put_some(ev, node, base, parts, new)
        return
    try:
        places = np.broadcast_shapes(*(p.shape for p in parts))
    except ValueError:
        ev.fail("F301", node, f"indices of shapes {' and '.join(str(p.shape) for p in parts)} do not broadcast")
    others = [a for a in range(len(base.shape)) if a not in axes]
    before = axes[0] if list(axes) == list(range(axes[0], axes[0] + len(axes))) else 0
    found = [*(base.shape[a] for a in others[:before]), *places, *(base.shape[a] for a in others[before:])]
    wide = _as_wide(ev, node, new, found)
    if before:
        axes = [*range(before, before + len(places)), *range(before), *range(before + len(places), len(found))]
        wide = transposed(ev, node, wide, axes)
    if [*axes, *others] != list(range(len(base.shape))):
        base = transposed(ev, node, base, [*axes, *others])
    order.put(ev, node, base, parts, wide)


def _put_some(ev: Evaluator, node: ast.AST, base: TracedArray, parts: Sequence[np.ndarray | TracedArray], new: TracedArray) -> None:
    """Assign one number at places of which only the run knows how many there are."""
    if len(parts) != len(base.shape) or any(p.shape != (-1,) for p in parts) or new.shape or min(base.shape) < 0:
        ev.unknown(node, "an assignment at places of which only the run knows how many there are, of more than one number")
    index = order.flat_places(ev, node, base.shape, [TracedArray(p.ssa) for p in parts if isinstance(p, TracedArray)])
    updates = select(ev, node, elementwise(ev, node, "equal", index, index), new, new)  # as many as there are places
    done = emit(ev, node, "scatter", [flat(ev, node, base), index, updates], reduction="none")
    change(ev, node, base, reshaped(ev, node, done, base.shape).ssa)


def _refuse_shape(ev: Evaluator, node: ast.AST, new: TracedArray, shape: Sequence[int]) -> NoReturn:
    said = [f"({','.join(map(str, s))}{',' if len(s) == 1 else ''})" for s in (new.shape, shape)]
    cause = ValueError(f"could not broadcast input array from shape {said[0]} into shape {said[1]}")
    ev.refuse("F301", node, f"an array of shape {new.shape} cannot be assigned to a part of shape {tuple(shape)}", cause)


def _as_wide(ev: Evaluator, node: ast.AST, new: TracedArray, shape: Sequence[int]) -> TracedArray:
    """The values broadcast to the shape of the assigned part. SourceError F301 if they do not fit."""
    try:
        fits = np.broadcast_shapes(new.shape, tuple(shape)) == tuple(shape)
    except ValueError:
        fits = False
    if not fits:
        _refuse_shape(ev, node, new, shape)
    return new if new.shape == tuple(shape) else emit(ev, node, "broadcast_to", [new], shape=list(shape))


def _converted(ev: Evaluator, node: ast.AST, value: Value, dtype: np.dtype) -> TracedArray:
    return convert(ev, node, value, dtype) if not isinstance(value, TracedArray) else cast(ev, node, value, dtype)


def _targets(ev: Evaluator, node: ast.AST, owner: TracedArray, index: Sequence[Value]) -> np.ndarray:
    """For every element that is assigned, its place in the flattened array."""
    total = math.prod(owner.shape)
    if total > _MAX_SCATTER:
        ev.fail(
            "F603", node, f"assignment to a part of an array of {total} elements", f"at most {_MAX_SCATTER}; use np.concatenate"
        )
    items: list[object] = []
    for item in _expanded(ev, node, owner, index):
        match item:
            case Slice():
                items.append(item.plain)
            case NumberValue():
                items.append(ev.integer(node, item, "an index"))
            case Static() if (small := known_array(ev, item)) is not None:
                items.append(small)
            case None:
                items.append(None)
            case _:
                ev.fail("F405", node, f"{words(item)} is not supported as an index", SUPPORTED)
    try:
        return np.asarray(np.arange(total).reshape(owner.shape)[tuple(items)])  # pyright: ignore[reportArgumentType, reportCallIssue]
    except IndexError as error:
        return ev.refuse("F306", node, str(error), error)
