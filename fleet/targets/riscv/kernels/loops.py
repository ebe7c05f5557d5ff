"""Loops of generated code: counted, with carried values, and nests over strided arrays.

Trip counts are static, so loops are unrolled here and the remainder is straight code. If the instruction set has vectors and the
innermost dimension has stride 0 or 1, a step computes several lanes. If the length is not a multiple, the last step of an
elementwise loop overlaps the one before, which writes the same values twice.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from fleet.targets.riscv.kernels.kernel import Builder, Carried, Value, flow_of, index, isa_of

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
) -> None:
    """Emit loops over all indices of `shape`, in lanes if the instruction set and the strides allow it.

    size: bytes of the largest element that `body` computes with. group: vector registers of such a value. idempotent: a step may
    run twice.
    """
    if 0 in shape:
        return
    sizes, steps = merge(shape, strides)
    walk = [s[-1] if sizes else 0 for s in steps]
    lanes = isa_of(b).lanes(size, group)
    if sizes and lanes > 1 and all(w in (0, 1) for w in walk):
        _in_lanes(b, sizes, steps, start, body, lanes, idempotent=idempotent)
        return

    def single(offsets: list[Value], _: Carried) -> Carried:
        body(offsets, [0] * len(offsets), 1)
        return []

    nest_fold(b, shape, strides, start, [], single, unroll)


def _in_lanes(
    b: Builder,
    sizes: Sequence[int],
    steps: Sequence[Sequence[int]],
    start: Sequence[Value],
    body: LaneBody,
    lanes: int,
    *,
    idempotent: bool,
) -> None:
    walk = [s[-1] for s in steps]

    def inner(offsets: list[Value], _: Carried) -> Carried:
        for first, width, times in pieces(sizes[-1], lanes, overlap=idempotent):

            def step(i: Value, width: int = width, first: int = first) -> None:
                places = [moved(b, shifted(b, o, first * w), i, width * w) for o, w in zip(offsets, walk, strict=True)]
                body(places, walk, width)

            loop(b, times, step)
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
