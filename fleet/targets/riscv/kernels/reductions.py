"""Steps of reductions, argmax and argmin, sorting, cumulative sums."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence

import numpy as np

from fleet.ir import dialect as d
from fleet.ir.dialect import FleetOp, kind_of
from fleet.ir.operations.operation import attributes_of
from fleet.targets.riscv.kernels.elementwise import maximum, minimum
from fleet.targets.riscv.kernels.kernel import (
    ArrayOperand,
    Builder,
    Value,
    contiguous,
    index,
    integer_compare,
    is_float,
    is_unsigned,
    lanes_of,
    load,
    number,
    store,
)
from fleet.targets.riscv.kernels.loops import Carried, fold, merge, moved, nest, nest_fold, pieces, shifted
from fleet.targets.riscv.kernels.math import call_reduction
from fleet.targets.riscv.plan import refuse

Combine = Callable[[Value, Value], Value]


class _Axes:
    """An operand's dimensions, split into kept and reduced ones."""

    def __init__(self, op: FleetOp, operand: ArrayOperand, axes: Sequence[int], out: ArrayOperand, keepdims: bool) -> None:
        rank = len(operand.shape)
        if any(not -rank <= a < rank for a in axes):
            raise refuse(op, f"axes {tuple(axes)} of an array of rank {rank}")
        self.operand = operand
        self.reduced = sorted({a % rank for a in axes})
        self.kept = [d for d in range(rank) if d not in self.reduced]
        self.count = int(np.prod([operand.shape[d] for d in self.reduced], dtype=np.int64))
        self.shape = [operand.shape[d] for d in self.kept]
        expected = tuple(1 if d in self.reduced else operand.shape[d] for d in range(rank)) if keepdims else tuple(self.shape)
        if expected != out.shape:
            raise refuse(op, f"result shape {out.shape}; expected {expected}")
        sizes = [operand.shape[d] for d in self.reduced]
        self.sizes, (self.steps,) = merge(sizes, [[operand.strides[d] for d in self.reduced]])
        self.outer_steps = [operand.strides[d] for d in self.kept]

    @property
    def across(self) -> bool:
        """Whether the reduced elements are adjacent, so that lanes hold parts of one result."""
        return bool(self.sizes) and self.steps[-1] == 1

    def outer(self, b: Builder, size: int, body: Callable[[Value, Value, int], None]) -> None:
        """Emit `body(offset in out, offset of the first element, lanes)`; lanes are adjacent results, if there are any."""
        strides = [contiguous(self.shape), self.outer_steps]

        def step(offsets: list[Value], walk: Sequence[int], lanes: int) -> None:
            assert lanes == 1 or list(walk) == [1, 1]
            body(offsets[0], offsets[1], lanes)

        if self.across or (self.shape and merge(self.shape, strides)[1][1][-1:] == (0,)):
            size = 1 << 20
        nest(b, self.shape, strides, [index(0)] * 2, step, size=size, unroll=1)

    def inner(self, b: Builder, start: Value, init: Carried, body: Callable[[Value, Carried], Carried]) -> Carried:
        """Emit `body(offset, carried)` over the reduced elements from `start`."""
        return nest_fold(b, self.sizes, [self.steps], [start], init, lambda offsets, carried: body(offsets[0], carried))


def fold_lanes(
    b: Builder,
    count: int,
    start: Value,
    init: Value,
    lanes: int,
    value: Callable[[Value, int], Value],
    reduce: str,
    dtype: np.dtype,
) -> Value:
    """Reduce `value(offset, lanes)` of `count` adjacent elements from `start` in the order of `rows`; `reduce` as in `combine`."""
    total = init
    for first, width, times in pieces(count, lanes, overlap=False):

        def step(i: Value, carried: Carried, first: int = first, width: int = width) -> Carried:
            return [combine(b, reduce, carried[0], value(moved(b, shifted(b, start, first), i, width), width), dtype)]

        if width == 1:
            total = fold(b, times, [total], step, 4)[0]
            continue
        part = fold(b, times, [neutral(dtype, reduce, width)], step, 2)[0]
        total = collapse(b, reduce, part, total, dtype)
    return total


def neutral(dtype: np.dtype, reduce: str, lanes: int) -> Value:
    """Return the neutral element of a reduction."""
    floating = is_float(dtype)
    if reduce == "add":
        return number(dtype, -0.0 if floating else 0, lanes)
    if reduce == "mul":
        return number(dtype, 1, lanes)
    low = -math.inf if floating else 0 if dtype.kind == "b" else np.iinfo(dtype).min
    high = math.inf if floating else 1 if dtype.kind == "b" else np.iinfo(dtype).max
    return number(dtype, low if reduce == "max" else high, lanes)


def combine(b: Builder, reduce: str, x: Value, y: Value, dtype: np.dtype) -> Value:
    """Emit one step: "add", "mul", "max" or "min", with NumPy's treatment of NaN and bools."""
    floating = is_float(dtype)
    match reduce:
        case "add":
            return b.fadd(x, y) if floating else b.add(x, y)
        case "mul":
            return b.fmul(x, y) if floating else b.mul(x, y)
        case "max":
            return maximum(b, x, y, dtype)
        case _:
            return minimum(b, x, y, dtype)


def collapse(b: Builder, reduce: str, part: Value, start: Value, dtype: np.dtype) -> Value:
    """Reduce all lanes of a vector and `start`, the lanes in ascending order."""
    floating = is_float(dtype)
    if reduce in ("add", "mul") and floating:
        return call_reduction(b, f"f{reduce}", part, start)
    if not floating:
        truth, sign = dtype.kind == "b", "u" if is_unsigned(dtype) else "s"
        name = {"add": "add", "mul": "mul", "max": "or" if truth else f"{sign}max", "min": "and" if truth else f"{sign}min"}[reduce]
        return combine(b, reduce, start, call_reduction(b, name, part), dtype)
    lanes = lanes_of(part)
    while lanes > 1:  # maximum and minimum do not depend on the order
        lanes //= 2
        low, high = (_half(b, part, i * lanes, lanes) for i in (0, 1))
        part = combine(b, reduce, low, high, dtype)
    return combine(b, reduce, start, part, dtype)


def _half(b: Builder, value: Value, first: int, lanes: int) -> Value:
    from llvmlite import ir

    i32 = ir.IntType(32)
    if lanes == 1:
        return b.extract_element(value, ir.Constant(i32, first))
    picks = ir.Constant(ir.VectorType(i32, lanes), list(range(first, first + lanes)))
    return b.shuffle_vector(value, ir.Constant(value.type, ir.Undefined), picks)


REDUCTIONS: Mapping[type[FleetOp], str] = {
    d.ReduceSumOp: "add", d.MeanOp: "add", d.VarOp: "add", d.ReduceProdOp: "mul",
    d.ReduceMaxOp: "max", d.ReduceAnyOp: "max", d.ReduceMinOp: "min", d.ReduceAllOp: "min",
}  # fmt: skip


def emit_argument(b: Builder, op: FleetOp, out: ArrayOperand, operand: ArrayOperand) -> None:
    """Emit `argmax` or `argmin`: the lowest index of the best value; the first NaN wins."""
    axes = _Axes(op, operand, [attributes_of(op)["axis"]], out, keepdims=False)
    if not axes.count and out.size:
        raise refuse(op, f"{kind_of(op)} of no elements")
    if is_float(out.dtype):
        raise refuse(op, f"result {out.dtype}; expected int64")
    dtype = operand.dtype
    sign = ">" if isinstance(op, d.ArgmaxOp) else "<"

    def body(target: Value, start: Value, _lanes: int) -> None:
        def compare(offset: Value, carried: Carried) -> Carried:
            best, where, i = carried
            value = load(b, operand, offset)
            if is_float(dtype):
                better = b.and_(b.fcmp_unordered(sign, value, best), b.fcmp_ordered("ord", best, best))
            else:
                better = integer_compare(b, sign, value, best, dtype)
            return [b.select(better, value, best), b.select(better, i, where), b.add(i, number(out.dtype, 1))]

        zero = number(out.dtype, 0)
        # The first element is compared with itself once: equal values never replace, so it keeps index 0.
        store(b, out, target, axes.inner(b, start, [load(b, operand, start), zero, zero], compare)[1])

    axes.outer(b, 1 << 20, body)


def emit_argsort(b: Builder, op: FleetOp, out: ArrayOperand, operand: ArrayOperand) -> None:
    """Emit a stable `numpy.argsort`: an element's rank is the number of elements before it, which takes n**2 steps per row."""
    axis = attributes_of(op)["axis"] % max(1, len(operand.shape))
    if operand.shape != out.shape or not out.shape:
        raise refuse(op, f"shape {operand.shape} to {out.shape}; expected the same, of rank 1 or more")
    kept = [d for d in range(len(out.shape)) if d != axis]
    count, apart, dtype = out.shape[axis], operand.strides[axis], operand.dtype

    def less(x: Value, y: Value) -> Value:
        if is_float(dtype):  # NaN comes last
            last = b.and_(b.fcmp_unordered("uno", y, y), b.fcmp_ordered("ord", x, x))
            return b.or_(b.fcmp_ordered("<", x, y), last)
        return integer_compare(b, "<", x, y, dtype)

    def body(offsets: list[Value], _walk: Sequence[int], _lanes: int) -> None:
        def place(i: Value, _: Carried) -> Carried:
            x = load(b, operand, moved(b, offsets[1], i, apart))

            def before(j: Value, carried: Carried) -> Carried:
                y = load(b, operand, moved(b, offsets[1], j, apart))
                first = b.or_(less(y, x), b.and_(b.not_(less(x, y)), b.icmp_signed("<", j, i)))
                return [b.add(carried[0], b.zext(first, number(np.dtype(np.int64), 0).type))]

            (rank,) = fold(b, count, [number(np.dtype(np.int64), 0)], before, 1)
            store(b, out, moved(b, offsets[0], rank, out.strides[axis]), i)
            return []

        fold(b, count, [], place, 1)

    shape = [out.shape[d] for d in kept]
    steps = [[a.strides[d] for d in kept] for a in (out, operand)]
    nest(b, shape, steps, [number(np.dtype(np.int64), 0)] * 2, body, size=1 << 20, unroll=1)


def emit_cumsum(b: Builder, op: FleetOp, out: ArrayOperand, operand: ArrayOperand) -> None:
    """Emit `numpy.cumsum` along one axis, sequentially."""
    axis = attributes_of(op)["axis"] % max(1, len(operand.shape))
    if operand.shape != out.shape or not out.shape:
        raise refuse(op, f"shape {operand.shape} to {out.shape}; expected the same, of rank 1 or more")
    kept = [d for d in range(len(out.shape)) if d != axis]
    dtype = out.dtype

    def body(offsets: list[Value], _walk: Sequence[int], lanes: int) -> None:
        def step(i: Value, carried: Carried) -> Carried:
            value = load(b, operand, moved(b, offsets[1], i, operand.strides[axis]), dtype, lanes)
            total = combine(b, "add", carried[0], value, dtype)
            store(b, out, moved(b, offsets[0], i, out.strides[axis]), total)
            return [total]

        fold(b, out.shape[axis], [number(dtype, 0, lanes)], step, 4)

    shape = [out.shape[d] for d in kept]
    strides = [[a.strides[d] for d in kept] for a in (out, operand)]
    inner = merge(shape, strides)[1] if shape else [(), ()]
    plain = all(s[-1:] == (1,) for s in inner)
    size = 8 if is_float(dtype) != is_float(operand.dtype) else max(dtype.itemsize, operand.dtype.itemsize)
    nest(b, shape, strides, [index(0)] * 2, body, size=size if plain else 1 << 20, unroll=1)
