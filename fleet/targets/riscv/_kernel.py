"""Building blocks of generated code: element types, loads and stores with conversion, loop nests over strided arrays.

Everything is built with llvmlite's IR builder as plain LLVM IR with static trip counts; values of the surrounding loops
are element offsets (i64). Buffers never overlap, so every pointer is `noalias`.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from llvmlite import ir

Value = Any
"""An llvmlite IR value (the library carries no types)."""
Builder = Any

I1, I32, I64 = ir.IntType(1), ir.IntType(32), ir.IntType(64)
F32, F64 = ir.FloatType(), ir.DoubleType()
POINTER = ir.PointerType()
_TYPES: dict[str, Any] = {"float32": F32, "float64": F64, "int32": I32, "int64": I64}


def element(dtype: np.dtype) -> Any:
    """The LLVM type of a NumPy dtype."""
    return _TYPES[dtype.name]


def is_float(dtype: np.dtype) -> bool:
    """True for float32 and float64."""
    return dtype.kind == "f"


def number(dtype: np.dtype, value: float) -> Value:
    """A constant of that dtype."""
    return ir.Constant(element(dtype), float(dtype.type(value)) if is_float(dtype) else int(value))


def index(value: int) -> Value:
    """An i64 constant."""
    return ir.Constant(I64, value)


@dataclass(frozen=True)
class Array:
    """An array operand: pointer to its first element, dtype, shape; C-contiguous."""

    pointer: Value
    dtype: np.dtype
    shape: tuple[int, ...]

    @property
    def strides(self) -> tuple[int, ...]:
        """Elements from one index to the next, for every dimension."""
        strides: list[int] = []
        step = 1
        for size in reversed(self.shape):
            strides.append(step)
            step *= size
        return tuple(reversed(strides))

    @property
    def size(self) -> int:
        """Number of elements."""
        return int(np.prod(self.shape, dtype=np.int64))


def broadcast_strides(array: Array, shape: Sequence[int]) -> tuple[int, ...] | None:
    """Strides that read `array` as if it had `shape` (NumPy's rule); None when it does not broadcast."""
    lead = len(shape) - len(array.shape)
    if lead < 0:
        return None
    strides = [0] * lead
    for size, stride, want in zip(array.shape, array.strides, shape[lead:], strict=True):
        if size not in (1, want):
            return None
        strides.append(0 if size == 1 else stride)
    return tuple(strides)


def convert(b: Builder, value: Value, source: np.dtype, target: np.dtype) -> Value:
    """`astype`: float to integer truncates; NaN and what does not fit give the smallest integer, as NumPy on x86-64."""
    if source == target:
        return value
    to = element(target)
    if is_float(source) and is_float(target):
        return b.fpext(value, to) if target.itemsize > source.itemsize else b.fptrunc(value, to)
    if is_float(target):
        return b.sitofp(value, to)
    if not is_float(source):
        return b.sext(value, to) if target.itemsize > source.itemsize else b.trunc(value, to)
    wide = b.fpext(value, F64) if source.itemsize == 4 else value
    bits = 8 * target.itemsize
    low, high = (-(2.0**63), 2.0**63) if bits == 64 else (-(2.0**31) - 1, 2.0**31)
    compare = ">=" if bits == 64 else ">"
    fits = b.and_(b.fcmp_ordered(compare, wide, ir.Constant(F64, low)), b.fcmp_ordered("<", wide, ir.Constant(F64, high)))
    safe = b.select(fits, wide, ir.Constant(F64, 0.0))
    return b.select(fits, b.fptosi(safe, to), ir.Constant(to, -(1 << (bits - 1))))


def at(b: Builder, array: Array, offset: Value) -> Value:
    """Address of the element at `offset` (elements from the first)."""
    return b.gep(array.pointer, [offset], inbounds=True, source_etype=element(array.dtype))


def load(b: Builder, array: Array, offset: Value, dtype: np.dtype | None = None) -> Value:
    """The element at `offset`, converted to `dtype`."""
    value = b.load(at(b, array, offset), typ=element(array.dtype))
    return value if dtype is None else convert(b, value, array.dtype, dtype)


def store(b: Builder, array: Array, offset: Value, value: Value) -> None:
    """Writes an element; `value` has the array's dtype."""
    b.store(value, at(b, array, offset))


Carried = list[Value]


def fold(b: Builder, count: int, init: Carried, body: Callable[[Value, Carried], Carried]) -> Carried:
    """A counted loop with loop-carried values: `body(i, carried) -> carried` for i in 0..count-1; returns the last."""
    if count == 0:
        return init
    if count == 1:
        return body(index(0), init)
    before = b.block
    head = b.append_basic_block("loop")
    b.branch(head)
    b.position_at_end(head)
    i = b.phi(I64)
    i.add_incoming(index(0), before)
    phis: Carried = []
    for value in init:
        phi = b.phi(value.type)
        phi.add_incoming(value, before)
        phis.append(phi)
    after = body(i, phis)
    following = b.add(i, index(1), flags=("nuw", "nsw"))
    i.add_incoming(following, b.block)
    for phi, value in zip(phis, after, strict=True):
        phi.add_incoming(value, b.block)
    leave = b.append_basic_block("done")
    b.cbranch(b.icmp_unsigned("<", following, index(count)), head, leave)
    b.position_at_end(leave)
    return after


def loop(b: Builder, count: int, body: Callable[[Value], None]) -> None:
    """A counted loop."""

    def step(i: Value, _: Carried) -> Carried:
        body(i)
        return []

    fold(b, count, [], step)


def merge(shape: Sequence[int], strides: Sequence[Sequence[int]]) -> tuple[tuple[int, ...], list[tuple[int, ...]]]:
    """Drops dimensions of size 1 and joins neighbours that all operands walk as one: fewer, longer loops."""
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
) -> Carried:
    """Loops over all indices of `shape` in C order, carrying values.

    Args:
        b: the builder.
        shape: the iteration space; a dimension of 0 means that `body` never runs.
        strides: for every operand the elements a step moves it, by dimension.
        start: for every operand the offset of its first element.
        init: the carried values before the first step.
        body: gets the operands' offsets and the carried values, gives the new carried values.
    """
    if 0 in shape:
        return init
    sizes, steps = merge(shape, strides)

    def level(d: int, offsets: list[Value], carried: Carried) -> Carried:
        if d == len(sizes):
            return body(offsets, carried)

        def step(i: Value, inner: Carried) -> Carried:
            moved = [_advance(b, offset, i, s[d]) for offset, s in zip(offsets, steps, strict=True)]
            return level(d + 1, moved, inner)

        return fold(b, sizes[d], carried, step)

    return level(0, list(start), init)


def nest(
    b: Builder, shape: Sequence[int], strides: Sequence[Sequence[int]], start: Sequence[Value], body: Callable[[list[Value]], None]
) -> None:
    """`nest_fold` without carried values."""

    def step(offsets: list[Value], _: Carried) -> Carried:
        body(offsets)
        return []

    nest_fold(b, shape, strides, start, [], step)


def _advance(b: Builder, offset: Value, i: Value, stride: int) -> Value:
    if stride == 0:
        return offset
    step = i if stride == 1 else b.mul(i, index(stride), flags=("nuw", "nsw"))
    if isinstance(offset, ir.Constant) and offset.constant == 0:
        return step
    return b.add(offset, step, flags=("nuw", "nsw"))
