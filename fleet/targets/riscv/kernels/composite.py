"""Composite operations as fused loops: softmax, the norms, the activations, and the epilogue of a linear layer.

Per row, softmax takes the maximum, then exponentials and their sum, then divides. layer_norm takes the mean, then the variance
about it, then (x - mean) r gamma + beta with r = 1 / sqrt(var + eps), the last step fused. Sums have the order of `rows`. In
float32 the functions are computed in float64 from the float32 argument and rounded once.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import replace

import numpy as np
from llvmlite import ir

from fleet.ir.schedule import LoopSchedule
from fleet.targets.riscv.kernels import coefficients
from fleet.targets.riscv.kernels.elementwise import in_double, maximum
from fleet.targets.riscv.kernels.kernel import (
    ArrayOperand,
    Builder,
    Value,
    broadcast_strides,
    flow_of,
    fused,
    index,
    intrinsic,
    isa_of,
    lanes_of,
    load,
    load_spread,
    number,
    spread,
    store,
    vector,
)
from fleet.targets.riscv.kernels.loops import Carried, fold, moved, nest, nest_scheduled, pieces
from fleet.targets.riscv.kernels.math import Core, Functions, call_reduction

_GELU = math.sqrt(2 / math.pi)
_LOG2E = 1 / math.log(2)
_ONE_LANE = 1 << 20
"""Bytes of an element of which no register holds two."""


class ElementRow:
    """`count` elements of an array from an offset on, `stride` apart."""

    def __init__(self, b: Builder, array: ArrayOperand, start: Value, stride: int, count: int) -> None:
        self.b, self.array, self.start, self.stride, self.count = b, array, start, stride, count

    def place(self, i: Value) -> Value:
        """Return the offset of element i."""
        return moved(self.b, self.start, i, self.stride)

    def get(self, i: Value, dtype: np.dtype, lanes: int = 1) -> Value:
        """Load element i, or adjacent elements from i on."""
        return load_spread(self.b, self.array, self.place(i), dtype, lanes, self.stride)

    def put(self, i: Value, value: Value) -> None:
        """Store element i, or adjacent elements from i on."""
        store(self.b, self.array, self.place(i), value)


def lanes_for(b: Builder, rows: Sequence[ElementRow], size: int, group: int = 4) -> int:
    """Return the lanes in which rows can be processed together: 1 unless all have strides of 0 or 1."""
    return isa_of(b).lanes(size, group) if all(r.stride in (0, 1) for r in rows) else 1


def each(b: Builder, count: int, lanes: int, body: Callable[[Value, int], None], unroll: int = 4, *, overlap: bool = True) -> None:
    """Emit `body(i, lanes)` over 0..count-1; with `overlap` a step may run twice."""
    for first, width, times in pieces(count, lanes, overlap=overlap):

        def step(i: Value, carried: Carried, first: int = first, width: int = width) -> Carried:
            body(moved(b, index(first), i, width), width)
            return carried

        fold(b, times, [], step, unroll if width == 1 else 1)


def accumulate(
    b: Builder, count: int, lanes: int, init: Carried, body: Callable[[Value, int, Carried], Carried], unroll: int = 4
) -> Carried:
    """Emit running sums over 0..count-1, each in the order of `rows`: `body(i, lanes, sums) -> sums`."""
    total = init
    for first, width, times in pieces(count, lanes, overlap=False):

        def step(i: Value, sums: Carried, first: int = first, width: int = width) -> Carried:
            return body(moved(b, index(first), i, width), width, sums)

        if width == 1:
            total = fold(b, times, total, step, unroll)
            continue
        zeros = [number_like(t, -0.0, width) for t in total]
        parts = fold(b, times, zeros, step, 1)
        total = [call_reduction(b, "fadd", part, t) for part, t in zip(parts, total, strict=True)]
    return total


def number_like(value: Value, number_: float, lanes: int) -> Value:
    """Return a constant with a value's element type."""
    return ir.Constant(vector(value.type, lanes), [number_] * lanes if lanes > 1 else number_)


def _extremes(b: Builder, row: ElementRow, dtype: np.dtype) -> tuple[Value, Value]:
    """Return the largest and the smallest number of a row; NaN only if there is no other."""
    lanes = lanes_for(b, [row], dtype.itemsize)
    found: Carried = [number(dtype, -math.inf), number(dtype, math.inf)]
    for first, width, times in pieces(row.count, lanes, overlap=True):

        def step(i: Value, carried: Carried, first: int = first, width: int = width) -> Carried:
            value = row.get(moved(b, index(first), i, width), dtype, width)
            return [intrinsic(b, "llvm.maxnum", carried[0], value), intrinsic(b, "llvm.minnum", carried[1], value)]

        parts = fold(b, times, [spread(b, f, width) for f in found], step, 8)
        found = parts if width == 1 else [call_reduction(b, n, p) for n, p in zip(("fmax", "fmin"), parts, strict=True)]
    return found[0], found[1]


def softmax_row(b: Builder, out: ElementRow, source: ElementRow) -> None:
    """Emit the softmax of one row; `out` may be `source`. float32 or float64, as `out`.

    In float32, exponentials are first computed without clamping. If the row has a distance outside the range of float64
    (infinities, masks of large numbers, NaN), they are computed again with clamped distances, whose sum keeps a NaN. In place,
    where the source is overwritten, distances are always clamped.
    """
    dtype, count = out.array.dtype, out.count
    fast = dtype.itemsize == 4 and out.array is not source.array
    best, least = _extremes(b, source, dtype)
    lanes = lanes_for(b, [out, source], 8)
    zero = number(dtype, 0)

    def pass_(careful: bool) -> Value:
        def exponential(i: Value, width: int, sums: Carried) -> Carried:
            distance = b.fsub(source.get(i, dtype, width), spread(b, best, width))
            if dtype.itemsize == 8:
                value = in_double(b, Functions.exp, distance)
            else:
                core = Core(b, width)
                wide = b.fpext(distance, core.f64)
                value = b.fptrunc(core.exp_short(core.larger(wide, -104.0) if careful else wide), distance.type)
            out.put(i, value)
            rest = [b.fadd(sums[1], distance)] if careful else []
            return [b.fadd(sums[0], value), *rest]

        sums = accumulate(b, count, lanes, [zero, zero] if careful else [zero], exponential, 4)
        if careful:
            return b.select(b.fcmp_unordered("uno", sums[1], sums[1]), number(dtype, math.nan), sums[0])
        return sums[0]

    total = pass_(not fast and dtype.itemsize == 4)
    if fast:
        wide = b.fcmp_unordered("<", b.fsub(least, best), number(dtype, -700))
        total = flow_of(b).chosen(wide, lambda: pass_(True), total)

    def divide(i: Value, width: int) -> None:
        out.put(i, b.fdiv(out.get(i, dtype, width), spread(b, total, width)))

    # In place: a step that ran twice would divide twice.
    each(b, count, lanes_for(b, [out], dtype.itemsize), divide, 8, overlap=False)


def emit_softmax(b: Builder, out: ArrayOperand, operand: ArrayOperand, axis: int, loops: LoopSchedule) -> None:
    """Emit a softmax over one axis."""

    def row(starts: list[Value], steps: list[int], count: int) -> None:
        softmax_row(b, ElementRow(b, out, starts[0], steps[0], count), ElementRow(b, operand, starts[1], steps[1], count))

    _rows(b, out, [out, operand], axis, row, loops)


def _rows(
    b: Builder,
    out: ArrayOperand,
    arrays: Sequence[ArrayOperand],
    axis: int,
    body: Callable[[list[Value], list[int], int], None],
    loops: LoopSchedule,
) -> None:
    """Emit `body(starts, strides, count)` for every row along `axis`, with the arrays broadcast to the result."""
    rank = len(out.shape)
    axis %= rank
    kept = [d for d in range(rank) if d != axis]
    strides: list[tuple[int, ...]] = []
    for array in arrays:
        found = broadcast_strides(array, out.shape)
        assert found is not None, "shapes are checked before code is made"
        strides.append(found)

    def row(offsets: list[Value], _walk: Sequence[int], _lanes: int) -> None:
        body(offsets, [s[axis] for s in strides], out.shape[axis])

    shape, steps = [out.shape[d] for d in kept], [[s[d] for d in kept] for s in strides]
    one = replace(loops, unroll=1, vectorise=1)
    nest_scheduled(b, one, kept, shape, steps, [index(0)] * len(arrays), row, size=_ONE_LANE, unroll=1)


def emit_layer_norm(
    b: Builder,
    out: ArrayOperand,
    operand: ArrayOperand,
    gamma: ArrayOperand,
    beta: ArrayOperand,
    axis: int,
    eps: float,
    loops: LoopSchedule,
) -> None:
    """Emit (x - mean) / sqrt(var + eps) * gamma + beta."""
    dtype = out.dtype

    def row(starts: list[Value], steps: list[int], count: int) -> None:
        rows = [
            ElementRow(b, a, start, step, count) for a, start, step in zip((out, operand, gamma, beta), starts, steps, strict=True)
        ]
        target, x, g, c = rows
        lanes = lanes_for(b, [x], dtype.itemsize)
        zero, number_of = number(dtype, 0), number(dtype, count)
        sums = accumulate(b, count, lanes, [zero], lambda i, w, s: [b.fadd(s[0], x.get(i, dtype, w))], 8)
        mean = b.fdiv(sums[0], number_of)

        def square(i: Value, width: int, sums: Carried) -> Carried:
            distance = b.fsub(x.get(i, dtype, width), spread(b, mean, width))
            return [fused(b, distance, distance, sums[0])]

        var = b.fdiv(accumulate(b, count, lanes, [zero], square, 8)[0], number_of)
        scale = b.fdiv(number(dtype, 1), intrinsic(b, "llvm.sqrt", b.fadd(var, number(dtype, eps))))

        def write(i: Value, width: int) -> None:
            distance = b.fsub(x.get(i, dtype, width), spread(b, mean, width))
            normal = b.fmul(distance, spread(b, scale, width))
            target.put(i, fused(b, normal, g.get(i, dtype, width), c.get(i, dtype, width)))

        each(b, count, lanes_for(b, rows, dtype.itemsize), write, 8)

    _rows(b, out, [out, operand, gamma, beta], axis, row, loops)


def emit_rms_norm(
    b: Builder, out: ArrayOperand, operand: ArrayOperand, gamma: ArrayOperand, eps: float, loops: LoopSchedule
) -> None:
    """Emit x / sqrt(mean(x * x) + eps) * gamma over the last axis."""
    dtype = out.dtype

    def row(starts: list[Value], steps: list[int], count: int) -> None:
        rows = [ElementRow(b, a, start, step, count) for a, start, step in zip((out, operand, gamma), starts, steps, strict=True)]
        target, x, g = rows

        def square(i: Value, width: int, sums: Carried) -> Carried:
            value = x.get(i, dtype, width)
            return [fused(b, value, value, sums[0])]

        total = accumulate(b, count, lanes_for(b, [x], dtype.itemsize), [number(dtype, 0)], square, 8)[0]
        mean = b.fadd(b.fdiv(total, number(dtype, count)), number(dtype, eps))
        scale = b.fdiv(number(dtype, 1), intrinsic(b, "llvm.sqrt", mean))

        def write(i: Value, width: int) -> None:
            normal = b.fmul(x.get(i, dtype, width), spread(b, scale, width))
            target.put(i, b.fmul(normal, g.get(i, dtype, width)))

        each(b, count, lanes_for(b, rows, dtype.itemsize), write, 8)

    _rows(b, out, [out, operand, gamma], -1, row, loops)


def activation(b: Builder, name: str, x: Value, dtype: np.dtype) -> Value:
    """Emit `none`, `relu`, `silu`, `sigmoid`, `gelu_tanh` or `gelu_erf` of a value with one or several lanes."""
    lanes = lanes_of(x)
    if name == "none":
        return x
    if name == "relu":
        return maximum(b, x, number(dtype, 0, lanes), dtype)
    if name == "sigmoid":
        return in_double(b, Functions.sigmoid, x)
    if name == "gelu_erf":
        single = dtype.itemsize == 4
        error = _short_erf(b, x) if single else in_double(b, Functions.erf, b.fmul(x, number(dtype, math.sqrt(0.5), lanes)))
        half = b.fmul(x, number(dtype, 0.5, lanes))
        return b.fmul(half, b.fadd(error, number(dtype, 1, lanes)))
    core = Functions(b, single=dtype.itemsize == 4, lanes=lanes)
    one = core.c(1.0)
    wide = b.fpext(x, core.f64) if core.single else x
    base = _LOG2E if core.single else 1.0  # e**y = 2**(y log2 e): float64 has no bits to spare for that product
    if name == "silu":
        y = b.fmul(wide, core.c(-base)) if core.single else b.fneg(x)
    else:
        cubic = core.fma(b.fmul(wide, wide), core.c(-2 * _GELU * 0.044715 * base), core.c(-2 * _GELU * base))
        y = b.fmul(wide, cubic)
    if not core.single:
        return b.fdiv(x, b.fadd(one, core.exp(y)))
    # The division by x restores NaN and infinity.
    e = core.exp2_short(core.smaller(core.larger(y, -1000.0), 1000.0))
    return b.fdiv(x, b.fptrunc(b.fadd(one, e), x.type))


def _short_erf(b: Builder, x: Value) -> Value:
    """Emit erf(x / sqrt 2) for float32; a NaN is treated as a number (the product restores it)."""
    core = Core(b, lanes_of(x))
    y = b.fmul(b.fpext(x, core.f64), core.c(math.sqrt(0.5)))
    y = core.smaller(core.larger(y, -4.0), 4.0)
    w = core.fma(b.fmul(y, y), core.c(0.125), core.c(-1.0))
    return b.fptrunc(b.fmul(y, core.polynomial(w, coefficients.ERF_WIDE)), x.type)


def emit_activation(b: Builder, out: ArrayOperand, operand: ArrayOperand, name: str, loops: LoopSchedule) -> None:
    """Emit an activation of every element."""

    def body(offsets: list[Value], walk: Sequence[int], lanes: int) -> None:
        store(b, out, offsets[0], activation(b, name, load_spread(b, operand, offsets[1], out.dtype, lanes, walk[1]), out.dtype))

    axes, strides = range(len(out.shape)), [out.strides, operand.strides]
    nest_scheduled(b, loops, axes, out.shape, strides, [index(0)] * 2, body, size=8, unroll=2)


def emit_finish(b: Builder, out: ArrayOperand, bias: ArrayOperand | None, residual: ArrayOperand | None, name: str) -> None:
    """Emit out = activation(out + bias) + residual, in place."""
    given = [a for a in (bias, residual) if a is not None]
    strides: list[tuple[int, ...]] = [out.strides]
    for array in given:
        found = broadcast_strides(array, out.shape)
        assert found is not None, "shapes are checked before code is made"
        strides.append(found)
    dtype = out.dtype

    def body(offsets: list[Value], walk: Sequence[int], lanes: int) -> None:
        value = load(b, out, offsets[0], dtype, lanes)
        others = [load_spread(b, a, o, dtype, lanes, w) for a, o, w in zip(given, offsets[1:], walk[1:], strict=True)]
        if bias is not None:
            value = b.fadd(value, others[0])
        value = activation(b, name, value, dtype)
        if residual is not None:
            value = b.fadd(value, others[-1])
        store(b, out, offsets[0], value)

    plain = name in ("none", "relu")
    nest(
        b, out.shape, strides, [index(0)] * len(strides), body,
        size=dtype.itemsize if plain else 8, unroll=4 if plain else 1, idempotent=False,
    )  # fmt: skip
