"""`x[index] = value`."""

from __future__ import annotations

import ast
import math
from collections.abc import Sequence
from typing import NoReturn

import numpy as np

from fleet.frontend.arrays.emitting import cast, emit, known_array
from fleet.frontend.arrays.functions import order
from fleet.frontend.arrays.indices.items import (
    basic,
    expanded,
    integers,
    is_array,
    is_run_time_index,
    late_elements,
    mask_of,
    window,
)
from fleet.frontend.arrays.making import static
from fleet.frontend.arrays.memory import change, check_writable, inserted, joined
from fleet.frontend.arrays.operands import array, convert, elementwise, select
from fleet.frontend.arrays.parts import SUPPORTED, transposed
from fleet.frontend.arrays.sizes import flat, reshaped
from fleet.frontend.reading.evaluator import Evaluator
from fleet.frontend.reading.static import Static
from fleet.frontend.reading.values import List, NumberValue, RangeValue, Slice, TracedArray, Value
from fleet.frontend.reading.wording import words

_MAX_PLACES = 1 << 20
"""Elements of an array whose places are numbered one by one."""


def store(ev: Evaluator, node: ast.expr, owner: TracedArray, index: Sequence[Value], value: Value) -> None:
    """`owner[index] = value`: the array gets a new value of the IR; every name of it sees that."""
    check_writable(ev, node, owner)
    if any(d < 0 for d in owner.shape):
        ev.unknown(node, "assignment to a part of an array whose size only the run knows")
    new = _converted(ev, node, value, owner.dtype)
    mask = mask_of(ev, node, index[0]) if len(index) == 1 else None
    if mask is not None and len(mask.shape) == len(owner.shape) and len(new.shape) > 1:
        what = f"an array of shape {new.shape} cannot be assigned by a mask of all dimensions"
        ev.fail("F301", node, what, "assign a number or a vector")
    index = [_literal(ev, node, item) for item in index]
    if any(not _is_known_index(ev, item) for item in index):
        _store_late(ev, node, owner, index, new)
        return
    items = expanded(ev, node, owner, index)
    if all(item is None or isinstance(item, Slice | NumberValue) for item in items):
        start, size, step, axes, _ = window(ev, node, owner, items)
        if all(s == 1 for s in step):
            new = as_part(ev, node, new, [1 if axis is None else size[axis] for axis in axes])
            if 0 not in size:
                change(ev, node, owner, inserted(ev, node, owner, reshaped(ev, node, new, size), start).ssa)
            return
    if math.prod(owner.shape) > _MAX_PLACES:
        _store_along(ev, node, owner, items, new)
        return
    where = _targets(ev, node, owner, items)
    new = as_part(ev, node, new, where.shape)
    if where.size:
        change(ev, node, owner, joined(ev, node, owner, new, where).ssa)


def _store_along(ev: Evaluator, node: ast.expr, owner: TracedArray, items: Sequence[Value], new: TracedArray) -> None:
    """Assignment to known places of an array whose elements are too many to number them all."""
    if any(map(is_array, items)):
        _store_late(ev, node, owner, items, new)
        return
    start, size, step, axes, _ = window(ev, node, owner, items)
    new = reshaped(ev, node, as_part(ev, node, new, [1 if axis is None else size[axis] for axis in axes]), size)
    stepped = [i for i, s in enumerate(step) if s != 1]
    among = list(range(stepped[0], stepped[-1] + 1))
    rest = [Slice(None, None) if i in among else Slice(a, a + n) for i, (a, n) in enumerate(zip(start, size, strict=True))]
    base = basic(ev, node, owner, rest)
    parts = [(start[i] + step[i] * np.arange(size[i])).reshape([-1 if j == i else 1 for j in among]) for i in among]
    if 0 not in size:
        _put_along(ev, node, base, among, parts, new)


def as_part(ev: Evaluator, node: ast.AST, new: TracedArray, shape: Sequence[int]) -> TracedArray:
    """The values with the shape of the assigned part, as NumPy broadcasts them there. SourceError F301 if they do not fit."""
    shape = tuple(shape)
    extra = max(len(new.shape) - len(shape), 0)
    own = new.shape[extra:]
    try:
        fits = np.broadcast_shapes(own, shape) == shape and set(new.shape[:extra]) <= {1}
    except ValueError:
        fits = False
    if not fits:
        _refuse_shape(ev, node, new, shape)
    new = reshaped(ev, node, new, own) if extra else new
    return new if own == shape else emit(ev, node, "broadcast_to", [new], shape=list(shape))


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
    mask = mask_of(ev, node, index[0]) if len(index) == 1 else None
    mask = order.mask_of(ev, node, index) if mask is None else mask
    if mask is not None:
        order.fill_where(ev, node, owner, mask, new)
        return
    items = expanded(ev, node, owner, index)
    if any(mask_of(ev, node, i) is not None for i in items):
        what = "assignment by this mix of a mask and of other indices that are known only when the model runs"
        ev.fail("F504", node, what, "use np.where(mask, new, old)")
    if not any(is_array(item) and not is_run_time_index(item) for item in items) and any(
        isinstance(item, Slice | None) for item in items
    ):
        part = late_elements(ev, node, owner, items)
        assert isinstance(part, TracedArray)
        change(ev, node, part, as_part(ev, node, new, part.shape).ssa)
        return
    base, axes, arrays = chosen(ev, node, owner, items)  # single places beside an array are arrays too
    parts = [integers(ev, node, item) for item in arrays]
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
    wide = for_places(ev, node, base, axes, parts, new)
    order.put(ev, node, in_front(ev, node, base, axes), parts, wide)


def chosen(ev: Evaluator, node: ast.expr, owner: TracedArray, items: Sequence[Value]) -> tuple[TracedArray, list[int], list[Value]]:
    """A view by the basic items of an index; its axes that arrays and integers choose from; these arrays and integers."""
    arrays = [i for i, item in enumerate(items) if is_array(item) or isinstance(item, NumberValue)]
    rest = [Slice(None, None) if i in arrays else item for i, item in enumerate(items)]
    base = basic(ev, node, owner, rest) if any(i != Slice(None, None) for i in rest) else owner
    axes = [sum(item is None or isinstance(item, Slice) for item in rest[:i]) for i in arrays]
    return base, axes, [items[i] for i in arrays]


def in_front(ev: Evaluator, node: ast.AST, base: TracedArray, axes: Sequence[int]) -> TracedArray:
    """A view with the axes that integer arrays choose from in front."""
    others = [a for a in range(len(base.shape)) if a not in axes]
    return base if [*axes, *others] == list(range(len(base.shape))) else transposed(ev, node, base, [*axes, *others])


def for_places(
    ev: Evaluator,
    node: ast.AST,
    base: TracedArray,
    axes: Sequence[int],
    parts: Sequence[np.ndarray | TracedArray],
    new: TracedArray,
) -> TracedArray:
    """The values for the elements that integer arrays choose along some axes, the dimensions of these arrays in front."""
    try:
        places = np.broadcast_shapes(*(p.shape for p in parts))
    except ValueError:
        ev.fail("F301", node, f"indices of shapes {' and '.join(str(p.shape) for p in parts)} do not broadcast")
    others = [a for a in range(len(base.shape)) if a not in axes]
    before = axes[0] if list(axes) == list(range(axes[0], axes[0] + len(axes))) else 0
    found = [*(base.shape[a] for a in others[:before]), *places, *(base.shape[a] for a in others[before:])]
    wide = as_part(ev, node, new, found)
    if not before:
        return wide
    return transposed(
        ev, node, wide, [*range(before, before + len(places)), *range(before), *range(before + len(places), len(found))]
    )


def _put_some(ev: Evaluator, node: ast.AST, base: TracedArray, parts: Sequence[np.ndarray | TracedArray], new: TracedArray) -> None:
    """Assign one number at places of which only the run knows how many there are."""
    if len(parts) != len(base.shape) or any(p.shape != (-1,) for p in parts) or new.shape or min(base.shape) < 0:
        ev.unknown(node, "an assignment at places of which only the run knows how many there are, of more than one number")
    index = order.flat_places(ev, node, base.shape, [TracedArray(p.ssa) for p in parts if isinstance(p, TracedArray)])
    updates = select(ev, node, elementwise(ev, node, "equal", index, index), new, new)  # as many as there are places
    done = emit(ev, node, "scatter", [flat(ev, node, base), index, updates], reduction="none")
    change(ev, node, base, reshaped(ev, node, done, base.shape).ssa)


def _refuse_shape(ev: Evaluator, node: ast.AST, new: TracedArray, shape: Sequence[int]) -> NoReturn:
    if any(d < 0 for s in (new.shape, shape) for d in s):
        what = "an array is assigned to a part, and only the run knows their sizes"
        ev.fail("F510", node, what, "assign the elements in a loop over their numbers")
    said = [f"({','.join(map(str, s))}{',' if len(s) == 1 else ''})" for s in (new.shape, shape)]
    cause = ValueError(f"could not broadcast input array from shape {said[0]} into shape {said[1]}")
    ev.refuse("F301", node, f"an array of shape {new.shape} cannot be assigned to a part of shape {tuple(shape)}", cause)


def _converted(ev: Evaluator, node: ast.AST, value: Value, dtype: np.dtype) -> TracedArray:
    return convert(ev, node, value, dtype) if not isinstance(value, TracedArray) else cast(ev, node, value, dtype)


def _targets(ev: Evaluator, node: ast.AST, owner: TracedArray, items: Sequence[Value]) -> np.ndarray:
    """For every element that is assigned, its place in the flattened array."""
    plain: list[object] = []
    for item in items:
        match item:
            case Slice():
                plain.append(item.plain)
            case NumberValue():
                plain.append(ev.integer(node, item, "an index"))
            case Static() if (small := known_array(ev, item)) is not None:
                plain.append(small)
            case None:
                plain.append(None)
            case _:
                ev.fail("F405", node, f"{words(item)} is not supported as an index", SUPPORTED)
    try:
        return np.asarray(np.arange(math.prod(owner.shape)).reshape(owner.shape)[tuple(plain)])  # pyright: ignore[reportArgumentType, reportCallIssue]
    except IndexError as error:
        return ev.refuse("F306", node, str(error), error)
