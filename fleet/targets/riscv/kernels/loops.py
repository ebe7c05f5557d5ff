"""Loops of generated code: counted, with carried values, and nests over strided arrays, in a schedule's order and tiles.

Trip counts are static, so loops are unrolled here and the remainder is straight code. If the instruction set has vectors and the
innermost dimension has stride 0 or 1, a step computes several lanes. If the length is not a multiple, the last step of an
elementwise loop overlaps the one before, which writes the same values twice.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Sequence
from dataclasses import replace

from fleet.ir.schedule import LoopSchedule
from fleet.targets.riscv.kernels.kernel import ArrayOperand, Builder, Carried, LoopPart, Value, at, flow_of, index, isa_of, part_of

UNROLL = 4
"""Steps of a scalar loop between two branches."""


def fold(b: Builder, count: int, init: Carried, body: Callable[[Value, Carried], Carried], unroll: int = 1) -> Carried:
    """Emit a counted loop with carried values: `body(i, carried) -> carried` for i in 0..count-1; return the last ones."""
    flow = flow_of(b)
    unroll = max(1, min(unroll, count)) if flow.unrolls else 1
    full, rest = divmod(count, unroll)
    carried = init
    if full == 1:
        full, rest = 0, count
    if full:

        def steps(i: Value, inner: Carried) -> Carried:
            for n in range(unroll):
                inner = body(shifted(b, i, n), inner)
            return inner

        carried = flow.counted(full * unroll, unroll, carried, steps)
    for i in range(full * unroll, full * unroll + rest):
        carried = body(index(i), carried)
    return carried


def loop(b: Builder, count: int, body: Callable[[Value], None], unroll: int = 1) -> None:
    """Emit a counted loop."""

    def step(i: Value, _: Carried) -> Carried:
        body(i)
        return []

    fold(b, count, [], step, unroll)


def shifted(b: Builder, offset: Value, by: int) -> Value:
    """Return offset + by."""
    return offset if by == 0 else b.add(offset, index(by), flags=("nuw", "nsw") if by > 0 else ())


def moved(b: Builder, offset: Value, i: Value, stride: int) -> Value:
    """Return offset + i * stride."""
    if stride == 0:
        return offset
    step = i if stride == 1 else b.mul(i, index(stride), flags=("nsw",))
    if is_zero(offset):
        return step
    return b.add(offset, step, flags=("nsw",))


def is_zero(value: Value) -> bool:
    """Return whether it is the constant 0."""
    return getattr(value, "constant", None) == 0


def merge(shape: Sequence[int], strides: Sequence[Sequence[int]]) -> tuple[tuple[int, ...], list[tuple[int, ...]]]:
    """Drop dimensions of size 1 and merge neighbouring dimensions that are contiguous in all operands: fewer, longer loops."""
    keep = [d for d in range(len(shape)) if shape[d] != 1]
    out: list[int] = []
    steps: list[list[int]] = [[] for _ in strides]
    for d in reversed(keep):
        if out and all(steps[n][0] * out[0] == s[d] for n, s in enumerate(strides)):
            out[0] *= shape[d]
            continue
        out.insert(0, shape[d])
        for n, s in enumerate(strides):
            steps[n].insert(0, s[d])
    return tuple(out), [tuple(s) for s in steps]


def nest_fold(
    b: Builder,
    shape: Sequence[int],
    strides: Sequence[Sequence[int]],
    start: Sequence[Value],
    init: Carried,
    body: Callable[[list[Value], Carried], Carried],
    unroll: int = UNROLL,
) -> Carried:
    """Emit loops over all indices of `shape` in C order, carrying values; without any, the machine may run all at the same time.

    Args:
        b: the builder.
        shape: the iteration space; with a dimension of 0, `body` never runs.
        strides: for every operand the elements per step, by dimension.
        start: for every operand the offset of its first element.
        init: the carried values before the first step.
        body: takes the operands' offsets and the carried values, returns the new carried values.
        unroll: steps of the innermost loop between two branches.
    """
    if 0 in shape:
        return init
    sizes, steps = merge(shape, strides)

    def at_once(indices: Sequence[Value]) -> None:
        offsets = list(start)
        for d, i in enumerate(indices):
            offsets = [moved(b, o, i, s[d]) for o, s in zip(offsets, steps, strict=True)]
        body(offsets, [])

    if not init and flow_of(b).spread_out(sizes, at_once):
        return init

    def level(d: int, offsets: list[Value], carried: Carried) -> Carried:
        if d == len(sizes):
            return body(offsets, carried)

        def step(i: Value, inner: Carried) -> Carried:
            return level(d + 1, [moved(b, o, i, s[d]) for o, s in zip(offsets, steps, strict=True)], inner)

        return fold(b, sizes[d], carried, step, unroll if d == len(sizes) - 1 else 1)

    return level(0, list(start), init)


LaneBody = Callable[[list[Value], Sequence[int], int], None]
"""Takes the operands' offsets, the stride of each from lane to lane (0 or 1), and the number of lanes."""


def nest(
    b: Builder,
    shape: Sequence[int],
    strides: Sequence[Sequence[int]],
    start: Sequence[Value],
    body: LaneBody,
    *,
    size: int = 8,
    group: int = 4,
    unroll: int = UNROLL,
    idempotent: bool = True,
    vectorise: int | None = None,
) -> None:
    """Emit loops over all indices of `shape`, in lanes if the instruction set and the strides allow it.

    size: bytes of the largest element that `body` computes with. group: vector registers of such a value. idempotent: a step may
    run twice. vectorise: elements of a step; None: what the instruction set has.
    """
    if 0 in shape:
        return
    sizes, steps = merge(shape, strides)
    walk = [s[-1] if sizes else 0 for s in steps]
    lanes = isa_of(b).lanes(size, group) if vectorise is None or not flow_of(b).unrolls else vectorise
    if sizes and lanes > 1 and all(w in (0, 1) for w in walk):
        _in_lanes(b, sizes, steps, start, body, lanes, 1 if vectorise is None else unroll, idempotent=idempotent)
        return

    def single(offsets: list[Value], _: Carried) -> Carried:
        body(offsets, [0] * len(offsets), 1)
        return []

    nest_fold(b, shape, strides, start, [], single, unroll)


def nest_scheduled(
    b: Builder,
    loops: LoopSchedule,
    axes: Sequence[int],
    shape: Sequence[int],
    strides: Sequence[Sequence[int]],
    start: Sequence[Value],
    body: LaneBody,
    *,
    size: int,
    unroll: int,
    vectorise: int | None = None,
) -> None:
    """Emit loops as `loops.nest` does, arranged by a schedule.

    Args:
        b: the builder; of its `part_of` only those indices are run over.
        loops: its order, tiles and steps; unroll and vectorise are used where it has none.
        axes: the kernel's axis of each dimension of `shape`.
        shape, strides, start, body, size, unroll, vectorise: as in `nest`.
    """
    sizes, starts = list(shape), list(start)
    part = part_of(b)
    if part is not None:
        d = list(axes).index(part.axis)
        sizes[d] = part.count
        starts = [moved(b, o, part.first, s[d]) for o, s in zip(starts, strides, strict=True)]
    order = [list(axes).index(a) for a in loops.order] or range(len(axes))
    unroll = unroll if loops.unroll is None else loops.unroll
    vectorise = vectorise if loops.vectorise is None else loops.vectorise
    cut = [_pieces(sizes[d], loops.tile[axes[d]] if loops.tile else 0) for d in order]
    for pieces in itertools.product(*cut):
        counts = [times for _, times, _ in pieces] + [width for _, _, width in pieces]
        steps = [[s[d] * width for d, (_, _, width) in zip(order, pieces, strict=True)] + [s[d] for d in order] for s in strides]
        first = [sum(s[d] * begin for d, (begin, _, _) in zip(order, pieces, strict=True)) for s in strides]
        places = [shifted(b, o, by) for o, by in zip(starts, first, strict=True)]
        nest(b, counts, steps, places, body, size=size, unroll=unroll, vectorise=vectorise)


def _pieces(size: int, tile: int) -> list[tuple[int, int, int]]:
    """Return (first index, tiles, size of each)."""
    if not 0 < tile < size:
        return [(0, 1, size)]
    full, rest = divmod(size, tile)
    return [(0, full, tile), *([(full * tile, 1, rest)] if rest else [])]


def part_of_array(b: Builder, array: ArrayOperand, part: LoopPart, rank: int) -> ArrayOperand:
    """Return the part of an array that broadcasts to a result of that rank; all of it where it has one element along the axis."""
    axis = part.axis - rank + len(array.shape)
    if axis < 0 or array.shape[axis] == 1:
        return array
    moved_to = at(b, array, moved(b, index(0), part.first, array.strides[axis]))
    shape = (*array.shape[:axis], part.count, *array.shape[axis + 1 :])
    return replace(array, pointer=moved_to, shape=shape, given=array.strides)


def product_part(b: Builder, out: ArrayOperand, operands: Sequence[ArrayOperand]) -> list[ArrayOperand]:
    """Return the arrays of the part of a product that a thread computes: result, left and right operand, what is added."""
    part, rank = part_of(b), len(out.shape)
    if part is None:
        return [out, *operands]
    found = [part_of_array(b, array, part, rank) for array in (out, *operands)]
    if part.axis == rank - 1:
        found[1] = operands[0]  # its last axis is the depth
    if part.axis == rank - 2:
        found[2] = operands[1]
    return found


def _in_lanes(
    b: Builder,
    sizes: Sequence[int],
    steps: Sequence[Sequence[int]],
    start: Sequence[Value],
    body: LaneBody,
    lanes: int,
    unroll: int,
    *,
    idempotent: bool,
) -> None:
    walk = [s[-1] for s in steps]

    def inner(offsets: list[Value], _: Carried) -> Carried:
        for first, width, times in pieces(sizes[-1], lanes, overlap=idempotent):

            def step(i: Value, width: int = width, first: int = first) -> None:
                places = [moved(b, shifted(b, o, first * w), i, width * w) for o, w in zip(offsets, walk, strict=True)]
                body(places, walk, width)

            loop(b, times, step, unroll)
        return []

    nest_fold(b, sizes[:-1], [s[:-1] for s in steps], start, [], inner, 1)


def pieces(count: int, lanes: int, *, overlap: bool) -> list[tuple[int, int, int]]:
    """Split `count` adjacent elements into lanes: (first element, lanes of a step, steps), powers of two.

    overlap: the remainder is done by one more full step that ends at the last element.
    """
    width = min(lanes, 1 << (count.bit_length() - 1)) if count else 1
    found: list[tuple[int, int, int]] = []
    done = 0
    while done < count:
        times = (count - done) // width
        if times:
            found.append((done, width, times))
            done += times * width
        if done < count and overlap:
            found.append((count - width, width, 1))
            break
        width //= 2
    return found
