"""Operators whose results have as many elements as data decide: NonZero, Compress, Unique, NonMaxSuppression.

The sizes are those that the given inputs lead to, and nothing else is taken from them: what the results hold is computed by the
run. A run of other inputs that leads to other sizes ends with the node's name (`Build.holds`).
"""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from fleet.frontend.onnx.array import OnnxArray, binary, concat, maximum, minimum, where
from fleet.frontend.onnx.call import NodeCall
from fleet.frontend.onnx.limits import MAX_UNROLLED
from fleet.frontend.onnx.registry import operator

_AGAIN = "compile it for these inputs"


def places_of(n: NodeCall, chosen: OnnxArray, what: str) -> OnnxArray:
    """Places, int64 and ascending, of the true elements of bool [size]; their number is that of the given inputs."""
    if chosen.known is not None:
        return n.constant(np.flatnonzero(chosen.known), np.int64)
    if n.build.general:
        n.refuse(f"the number of {what} is decided by data, and the sizes of the inputs are not known", "leave out --dynamic")
    values, words = n.build.computed(chosen, f"the number of {what} cannot be computed while the model is read")
    count = int(np.count_nonzero(values))
    n.build.say(f"{count} of {chosen.size} {what} for the given inputs ({words}); a run with another number of them ends here")
    found = chosen.astype(np.int64).sum([0])
    n.build.holds(found.equal(count), f"not {count} {what}, for which the program was compiled; {_AGAIN}")
    return n.build.emit("argsort", [where(chosen, 0, n.constant(1, np.int32))], axis=0).part(0, 0, count)


def truths(x: OnnxArray) -> OnnxArray:
    """Which elements of a tensor are not 0, as bool [size]."""
    flat = x.reshape(x.size)
    return flat if flat.dtype.kind == "b" else binary("not_equal", flat, flat.like(0))


@operator("NonZero")
def _non_zero(n: NodeCall) -> OnnxArray:
    x = n.x
    places = places_of(n, truths(x), "elements are not 0")
    rows: list[OnnxArray] = []
    for i, size in enumerate(x.shape):
        inner = math.prod(x.shape[i + 1 :])
        rows.append(((places // max(inner, 1)) % max(size, 1)).unsqueeze(0))
    return concat(rows, 0) if rows else n.constant(np.zeros((0, places.size), np.int64))


@operator("Compress")
def _compress(n: NodeCall) -> OnnxArray:
    places = places_of(n, truths(n.array(1)), "parts are kept")
    if not n.has("axis"):
        return n.x.reshape(n.x.size).take(places)
    return n.x.take(places, n.axis(n.attribute("axis", 0), n.x.rank))


@operator("Unique")
def _unique(n: NodeCall) -> Sequence[OnnxArray]:
    x = n.x
    if x.known is not None or n.has("axis"):
        return _known_unique(n)
    flat, size = x.reshape(x.size), x.size
    order = n.build.emit("argsort", [flat], axis=0)
    inorder = flat.take(order)
    begins = binary("not_equal", inorder.part(0, 1, size - 1), inorder.part(0, 0, size - 1))
    begins = concat([n.constant(np.ones(1, bool)), begins], 0)
    starts = places_of(n, begins, "elements begin a value of their own")
    count = starts.size
    first, found = order.take(starts), inorder.take(starts)
    group = n.build.emit("cumsum", [begins.astype(np.int64)], axis=0) - 1
    inverse = n.build.emit("scatter", [n.constant(np.zeros(size, np.int64)).unfolded(), order, group], reduction="none")
    counts = concat([starts.part(0, 1, count - 1), n.constant(np.array([size], np.int64))], 0) - starts
    if n.attribute("sorted", 1):
        return [found.of(x.narrow), first, inverse, counts]
    turned = n.build.emit("argsort", [first], axis=0)
    back = n.build.emit("argsort", [turned], axis=0)
    return [found.take(turned).of(x.narrow), first.take(turned), back.take(inverse), counts.take(turned)]


def _known_unique(n: NodeCall) -> Sequence[OnnxArray]:
    """Unique of what is known while the model is read."""
    x = n.known(0, "what Unique looks at")
    axis = n.axis(n.attribute("axis", 0), x.ndim) if n.has("axis") else None
    found, first, inverse, counts = np.unique(x, True, True, True, axis=axis)
    inverse = inverse.reshape(-1)
    if not n.attribute("sorted", 1):
        order = np.argsort(first)
        found = np.take(found, order, axis=axis or 0)
        inverse, first, counts = np.argsort(order)[inverse], first[order], counts[order]
    return [n.build.known(found), *(n.constant(v, np.int64) for v in (first, inverse, counts))]


# ---- NonMaxSuppression


def _corners(n: NodeCall, boxes: OnnxArray) -> OnnxArray:
    """Boxes [batch, boxes, 4] of either form as (low, low, high, high, area) [batch, boxes, 5]."""
    a, b, c, d = (boxes.part(2, i, 1) for i in range(4))
    if n.attribute("center_point_box", 0):
        half = (c / 2, d / 2)
        low, high = (a - half[0], b - half[1]), (a + half[0], b + half[1])
    else:
        low, high = (minimum(a, c), minimum(b, d)), (maximum(a, c), maximum(b, d))
    area = (high[0] - low[0]) * (high[1] - low[1])
    return concat([*low, *high, area], 2)


def _overlaps(one: OnnxArray, all_: OnnxArray, limit: float) -> OnnxArray:
    """Whether the intersection of one box [batch, classes, 1] with each of all is over its share `limit` of their union."""
    a, b = ([x.part(3, i, 1).squeeze(3) for i in range(5)] for x in (one, all_))
    sides = [minimum(a[i + 2], b[i + 2]) - maximum(a[i], b[i]) for i in (0, 1)]
    shared = sides[0] * sides[1]
    union = a[4] + b[4] - shared
    proper = [x > 0.0 for x in (*sides, a[4], b[4], union)]
    found = (shared / where(union > 0.0, union, 1.0)) > limit
    for condition in proper:
        found = binary("logical_and", found, condition)
    return found


@operator("NonMaxSuppression")
def _non_max_suppression(n: NodeCall) -> OnnxArray:
    """In rounds: every class of every batch takes its best box that is left, and drops those that overlap it.

    There are as many rounds as the class that keeps most boxes needs, for the given inputs.
    """
    boxes, scores = n.array(0), n.array(1)
    batch, count, _ = boxes.shape

    def number(index: int, default: float) -> float:
        return default if n.optional(index) is None else n.known(index, "its limits").reshape(-1)[0].item()

    most, limit = max(int(number(2, 0)), 0), float(np.float32(number(3, 0.0)))
    all_ = _corners(n, boxes).unsqueeze(1)  # [batch, 1, boxes, 5]
    table = all_.reshape(batch * count, 5)
    first = n.constant(np.arange(batch, dtype=np.int64).reshape(batch, 1) * count)
    own = n.constant(np.arange(count, dtype=np.int64).reshape(1, 1, count))
    left = scores
    if n.optional(4) is not None:
        left = where(scores > float(np.float32(number(4, 0.0))), scores, -math.inf)
    rounds: list[tuple[OnnxArray, OnnxArray]] = []  # place and whether there was one, [batch, classes]
    kept: list[np.ndarray] = []
    words, said = "", "which boxes are left cannot be computed while the model is read"
    while len(rounds) < min(most, count):
        there = left.max([2]) > -math.inf
        values, words = n.build.computed(there, said)
        if not values.any():
            n.build.holds(
                binary("equal", there, there.like(False)).reduce("reduce_all", [0, 1], False),
                f"more boxes are left than for the inputs that the program was compiled for; {_AGAIN}",
            )
            break
        if len(rounds) == MAX_UNROLLED:
            n.refuse(f"keeps more than {MAX_UNROLLED} boxes of a class", "give it a lower max_output_boxes_per_class")
        if n.build.general:
            n.refuse("how many boxes are left is decided by data, and the sizes of the inputs are not known", "leave out --dynamic")
        place = n.build.emit("argmax", [left], axis=2)
        gone = _overlaps(table.take(place + first).unsqueeze(2), all_, limit)
        gone = binary("logical_or", gone, place.unsqueeze(2).equal(own))
        left = where(gone, -math.inf, left)
        rounds.append((place, there))
        kept.append(values)
    if not rounds:
        return n.constant(np.zeros((0, 3), np.int64))
    chosen = np.stack(kept, 2)  # [batch, classes, rounds]
    there = concat([t.unsqueeze(2) for _, t in rounds], 2)
    n.build.holds(
        there.equal(n.constant(chosen)).reduce("reduce_all", [0, 1, 2], False),
        f"other numbers of boxes are left than for the inputs that the program was compiled for; {_AGAIN}",
    )
    if there.known is None:
        n.build.say(
            f"{int(chosen.sum())} boxes are left for the given inputs ({words}); a run with other numbers of them ends here"
        )
    places = concat([p.unsqueeze(2) for p, _ in rounds], 2).reshape(chosen.size)
    rows = np.argwhere(chosen)
    found = places.take(n.constant(np.flatnonzero(chosen), np.int64)).unsqueeze(1)
    return concat([n.constant(rows[:, :2], np.int64), found], 1)
