"""Writes through arrays that share memory: every view shows them."""

from __future__ import annotations

import ast
import math
from collections.abc import Sequence
from dataclasses import dataclass, field
from enum import Enum
from typing import NoReturn

import numpy as np
from xdsl.ir import Block, SSAValue

from fleet.frontend.arrays.emitting import builder_of, emit
from fleet.frontend.arrays.making import static
from fleet.frontend.arrays.reinterpreted import places_shown, reinterprets, written_back
from fleet.frontend.arrays.sizes import reshaped
from fleet.frontend.reading.evaluator import Evaluator
from fleet.frontend.reading.static import Static
from fleet.frontend.reading.tensor import TracedArray, ViewPart
from fleet.ir import dialect as d
from fleet.ir.memory_order import in_c_order
from fleet.ir.operations.operation import attributes_of, kind_of
from fleet.ir.types import shape_of

_MAX_PLACES = 1 << 22
"""Largest array, in elements, whose views are tracked element by element."""
_MAX_WORK = 10_000
"""Work limit of NumPy's overlap test (`max_work`); beyond it views count as overlapping."""


def check_writable(ev: Evaluator, node: ast.AST, owner: TracedArray) -> None:
    """SourceError F703 or F504 for a write that NumPy refuses or that the model's caller would see."""
    if owner.scalar:
        ev.fail("F504", node, "a NumPy scalar cannot be changed in place", "make an array of it: np.array(x)")
    if owner.storage.outside:
        ev.fail("F504", node, "the array belongs to whoever calls the model", "work on a copy: x = x.copy()")
    part = owner.part
    while part is not None:
        if not part.writable:
            ev.fail("F703", node, "the array is a read-only view", "change a copy: x = x.copy()")
        part = part.base.part


def change(ev: Evaluator, node: ast.AST, owner: TracedArray, new: SSAValue) -> None:
    """Give an array its new value, and all that share its memory their view of it.

    Arrays whose view is unknown lose their value: SourceError F504 if one is used.
    """
    others = sorted((m for m in owner.storage.members if m is not owner), key=lambda m: m.serial)
    owner.ssa = new
    if others:
        _Write(ev, node, owner).spread(others)


def places_of(ev: Evaluator, node: ast.AST, array: TracedArray) -> tuple[TracedArray, np.ndarray] | None:
    """The array that owns the memory, in C order, and the place in it of every element, with the strides of NumPy's view.

    None if only the run knows.
    """
    seen = _Write(ev, node, array).look(array)
    if seen.root is None or seen.places is None or seen.places.dtype != np.int64 or not _laid_in_c_order(seen.root):
        return None
    return seen.root, seen.places


class _Sharing(Enum):
    SHARED = "shared"
    APART = "apart"
    UNKNOWN = "unknown"


@dataclass
class _Seen:
    """Knowledge of an array that shares memory.

    root: the array at the end of its views whose memory it is a part of, or None if unknown.
    places: of every element of it the place in the root, with the strides of NumPy's view; None if only the run knows. Where a
    view shows bytes as numbers of another size, the places' sizes follow, and their values mean nothing.
    """

    root: TracedArray | None
    places: np.ndarray | None


@dataclass
class _Write:
    """One write, and the arrays that share the written memory."""

    ev: Evaluator
    node: ast.AST
    owner: TracedArray
    seen: dict[TracedArray, _Seen] = field(default_factory=dict["TracedArray", "_Seen"])

    def spread(self, others: Sequence[TracedArray]) -> None:
        """Update every array that overlaps what was written."""
        mine = self.look(self.owner)
        shown = {self.owner}
        if mine.root is not None:
            at = self.owner
            while at is not mine.root:
                assert at.part is not None
                base = at.part.base
                written = _written(self.ev, self.node, at.part, base, at)
                if written is None:
                    mine = _Seen(None, None)
                    break
                base.ssa = written
                shown.add(base)
                self._name(base)
                at = base
        for other in others:
            if other not in shown:
                self._show(other, mine, shown)

    def _show(self, other: TracedArray, mine: _Seen, shown: set[TracedArray]) -> None:
        """Recompute a member from its base, the base first."""
        its = self.look(other)
        if mine.root is None or its.root is None:
            self._lose(other)
        elif its.root is not mine.root:
            if other.storage.joined:
                self._lose(other)
        elif _overlap(mine.places, its.places) and other not in shown:
            part = other.part
            assert part is not None  # a root is shown by what was written
            if part.base not in shown and part.base is not mine.root:
                self._show(part.base, mine, shown)
            ssa = _read(self.ev, self.node, part, part.base.ssa)
            if ssa is None:
                self._lose(other)
            else:
                other.ssa = ssa
                self._name(other)
        shown.add(other)

    def _lose(self, other: TracedArray) -> None:
        ev, node, names = self.ev, self.node, _names(self.ev, other)
        what = f"{names or 'another array'} may share the memory that changes here, and is used later"

        def refuse() -> NoReturn:
            ev.fail("F504", node, what, "change a copy: x = x.copy()")

        other.lost = refuse

    def _name(self, array: TracedArray) -> None:
        """Record that the variables naming the array have a new value."""
        for name, value in self.ev.frame.variables.items():
            if value is array:
                self.ev.called(self.ev.frame, name, value)

    def look(self, array: TracedArray) -> _Seen:
        if array not in self.seen:
            self.seen[array] = self._looked(array)
        return self.seen[array]

    def _looked(self, array: TracedArray) -> _Seen:
        part = array.part
        if part is None:
            return _Seen(array, _all_places(array))
        base = self.look(part.base)
        if base.root is None:
            return base
        sharing, places = _viewed(part, base)
        if sharing is _Sharing.SHARED:
            return _Seen(base.root, places)
        return _Seen(array, _all_places(array)) if sharing is _Sharing.APART else _Seen(None, None)


def _names(ev: Evaluator, array: TracedArray) -> str:
    return " and ".join(f"`{name}`" for name, value in ev.frame.variables.items() if value is array)


def _all_places(array: TracedArray) -> np.ndarray | None:
    shape = array.shape
    if any(n < 0 for n in shape) or math.prod(shape) > _MAX_PLACES:
        return None
    return np.arange(math.prod(shape)).reshape(shape)


def _overlap(a: np.ndarray | None, b: np.ndarray | None) -> bool:
    """Return whether two views of one array may share an element."""
    if a is None or b is None:
        return True
    try:
        return np.shares_memory(a, b, max_work=_MAX_WORK)  # pyright: ignore[reportArgumentType]  # NumPy's stub knows 0 and -1 only
    except np.exceptions.TooHardError:
        return True


# ---- what a view shows


def _steps(part: ViewPart) -> list[d.FleetOp] | None:
    """The operations from the base to the view, in order; None if one of them never makes a view."""
    found: list[d.FleetOp] = []
    at = part.value
    while at is not part.of:
        op = at.owner
        if not isinstance(op, _SHOWN) and reinterprets(op) is None:
            return None
        assert isinstance(op, d.FleetOp)
        found.append(op)
        at = op.operands[0]
    return found[::-1]


_SHOWN = (
    d.SliceOp, d.TransposeOp, d.ReshapeOp, d.GatherOp, d.BroadcastToOp, d.DynamicSliceOp, d.DynamicReshapeOp, d.DynamicBroadcastOp,
)  # fmt: skip


def _viewed(part: ViewPart, base: _Seen) -> tuple[_Sharing, np.ndarray | None]:
    """Return whether a view shares its base's memory, and the places of its elements in the root."""
    steps = _steps(part)
    if steps is None:
        return _Sharing.UNKNOWN, None
    places, certain = base.places, _laid_in_c_order(base.root)
    if part.where == "contiguous" and (part.base is not base.root or not certain):
        if places is None or not certain:
            return _Sharing.UNKNOWN, None
        if not places.flags.c_contiguous:
            return _Sharing.APART, None
    for op in steps:
        match op:
            case d.SliceOp() | d.TransposeOp() | d.BroadcastToOp():
                places = None if places is None else _moved(op, places)
            case d.GatherOp() | d.DynamicSliceOp() | d.DynamicBroadcastOp():
                places = None
            case d.NumpyOp():
                places = None if places is None else places_shown(op, places)
            case d.ReshapeOp() if part.where == "always" or _same_but_ones(op):
                made = None if places is None else places.reshape(shape_of(op.results[0].type))
                places = made if made is not None and np.may_share_memory(made, places) else None
            case d.ReshapeOp() if places is not None and certain:
                made = places.reshape(shape_of(op.results[0].type))
                if places.size and not np.shares_memory(made, places):
                    return _Sharing.APART, None
                places = made
            case d.ReshapeOp() | d.DynamicReshapeOp() if certain and op is steps[0] and part.base is base.root:
                places = None
            case _:
                return _Sharing.UNKNOWN, None
    return _Sharing.SHARED, places


def _laid_in_c_order(root: TracedArray | None) -> bool:
    """Return whether an array that owns its memory certainly has C order."""
    made = None if root is None else root.made
    if made is None:
        return isinstance(root, Static)
    if isinstance(made.owner, Block):
        return not isinstance(made.owner.parent_op(), d.IfOp | d.WhileOp)
    return isinstance(made.owner, d.FleetOp) and in_c_order(made)


def _same_but_ones(op: d.FleetOp) -> bool:
    shapes = [[n for n in shape_of(v.type) if n != 1] for v in (op.operands[0], op.results[0])]
    return shapes[0] == shapes[1]


def _moved(op: d.FleetOp, places: np.ndarray) -> np.ndarray:
    """Apply a slice, transpose or broadcast to the array of places."""
    attributes = attributes_of(op)
    if isinstance(op, d.TransposeOp):
        return places.transpose(attributes["permutation"])
    shape = shape_of(op.results[0].type)
    if isinstance(op, d.BroadcastToOp):
        return np.broadcast_to(places, shape)
    steps = attributes.get("step") or [1] * len(shape)
    return places[tuple(_slice(a, n, s) for a, n, s in zip(attributes["start"], shape, steps, strict=True))]


def _slice(start: int, size: int, step: int) -> slice:
    end = start + size * step
    return slice(start, start) if not size else slice(start, end if end >= 0 else None, step)


def _read(ev: Evaluator, node: ast.AST, part: ViewPart, base: SSAValue) -> SSAValue | None:
    """Compute the view from its base's value; None if it cannot be computed."""
    steps = _steps(part)
    return None if steps is None else _run(ev, node, steps, base)


def _run(ev: Evaluator, node: ast.AST, steps: Sequence[d.FleetOp], value: SSAValue) -> SSAValue:
    for op in steps:
        value = builder_of(ev).emit(node, kind_of(op), [value, *op.operands[1:]], **attributes_of(op))
    return value


# ---- what is written through a view


def _written(ev: Evaluator, node: ast.AST, part: ViewPart, base: TracedArray, view: TracedArray) -> SSAValue | None:
    """The base's value after a write through the view, or None if it cannot be computed."""
    steps = _steps(part)
    if steps is None or any(n < 0 for op in steps for v in (op.operands[0], op.results[0]) for n in shape_of(v.type)):
        return None
    found = TracedArray(view.ssa, scalar=False)
    for i in reversed(range(len(steps))):
        op = steps[i]
        shape = shape_of(op.operands[0].type)
        match op:
            case d.ReshapeOp():
                found = reshaped(ev, node, found, shape)
            case d.TransposeOp():
                order = attributes_of(op)["permutation"]
                found = emit(ev, node, "transpose", [found], permutation=[order.index(a) for a in range(len(order))])
            case d.SliceOp() if all(n == 1 for n in attributes_of(op).get("step") or ()):
                whole = TracedArray(_run(ev, node, steps[:i], base.ssa), scalar=False)
                found = inserted(ev, node, whole, found, attributes_of(op)["start"]) if math.prod(found.shape) else whole
            case d.SliceOp():
                places = _moved(op, np.arange(math.prod(shape)).reshape(shape))
                if places.size:
                    found = joined(ev, node, TracedArray(_run(ev, node, steps[:i], base.ssa), scalar=False), found, places)
                else:
                    found = TracedArray(_run(ev, node, steps[:i], base.ssa), scalar=False)
            case d.GatherOp() if not shape_of(op.operands[1].type):
                whole = TracedArray(_run(ev, node, steps[:i], base.ssa), scalar=False)
                found = _put_one(ev, node, whole, TracedArray(op.operands[1]), found, attributes_of(op).get("axis", 0))
            case d.NumpyOp() if (how := reinterprets(op)) is not None:
                whole = TracedArray(_run(ev, node, steps[:i], base.ssa), scalar=False)
                found = written_back(ev, node, how, whole, found)
            case _:
                return None
    return found.ssa


def _put_one(ev: Evaluator, node: ast.AST, whole: TracedArray, index: TracedArray, new: TracedArray, axis: int) -> TracedArray:
    """The array with `new` at one index of `axis`."""
    rank = len(whole.shape)
    front = [axis, *(a for a in range(rank) if a != axis)]
    turned = emit(ev, node, "transpose", [whole], permutation=front) if axis else whole
    done = emit(
        ev, node, "scatter", [turned, reshaped(ev, node, index, [1]), reshaped(ev, node, new, [1, *new.shape])], reduction="none",
    )  # fmt: skip
    return emit(ev, node, "transpose", [done], permutation=[front.index(a) for a in range(rank)]) if axis else done


def inserted(ev: Evaluator, node: ast.AST, owner: TracedArray, new: TracedArray, start: Sequence[int]) -> TracedArray:
    """An array with a box of new elements, of as many dimensions, from `start` on."""

    def along(base: TracedArray, axis: int) -> TracedArray:
        """`base` has the box's sizes along the axes before this one."""
        if base.shape[axis:] == new.shape[axis:]:
            return new
        first, last, size = start[axis], start[axis] + new.shape[axis], base.shape[axis]
        whole = base.shape[axis + 1 :] == new.shape[axis + 1 :]
        around = [new if whole else along(_cut(ev, node, base, axis, first, last), axis + 1)]
        if first:
            around.insert(0, _cut(ev, node, base, axis, 0, first))
        if last < size:
            around.append(_cut(ev, node, base, axis, last, size))
        return emit(ev, node, "concat", around, axis=axis) if len(around) > 1 else around[0]

    return along(owner, 0)


def _cut(ev: Evaluator, node: ast.AST, array: TracedArray, axis: int, first: int, last: int) -> TracedArray:
    """The part [first, last) of one dimension: itself if that is all."""
    start = [first if i == axis else 0 for i in range(len(array.shape))]
    size = [last - first if i == axis else n for i, n in enumerate(array.shape)]
    return array if tuple(size) == array.shape else emit(ev, node, "slice", [array], start=start, size=size)


def joined(ev: Evaluator, node: ast.AST, owner: TracedArray, new: TracedArray, where: np.ndarray) -> TracedArray:
    """An array with new elements at the places that `where` gives in the flattened array: of its shape; the last of
    what comes to one place stays.

    A block of rows is put there by concatenation, all else by a gather out of old and new elements.
    """
    total = math.prod(owner.shape)
    row = total // owner.shape[0]
    first, last = int(where.flat[0]) // row, int(where.flat[-1]) // row + 1
    if where.size == (last - first) * row and (where.ravel() == np.arange(first * row, last * row)).all():
        block = reshaped(ev, node, new, (last - first, *owner.shape[1:]))
        return inserted(ev, node, owner, block, [first] + [0] * (len(owner.shape) - 1))
    source = np.arange(total)
    source[where.ravel()] = total + np.arange(where.size)
    flat = emit(ev, node, "concat", [reshaped(ev, node, owner, [total]), reshaped(ev, node, new, [where.size])], axis=0)
    places = static(ev, node, source.reshape(owner.shape), "places", scalar=False)
    return emit(ev, node, "gather", [flat, places])
