"""Windows that slide over padded planes, compiled for this processor: what `numpy.take` gathers by a table of places.

Every row of a window's element is a run of the plane's row, or of the padding: runs are copied, where a table costs a load an
element. Nothing is computed, so elements keep their bits, NaN's payload included.
"""

from __future__ import annotations

import ctypes
from collections.abc import Callable, Mapping
from functools import lru_cache
from pathlib import Path
from typing import Any

from fleet.sdk.native import Target, compile_library

_P, _N = ctypes.c_void_p, ctypes.c_int64
GEOMETRY = ("height", "width", "low_y", "low_x", "kernel_y", "kernel_x", "dilation_y", "dilation_x",
            "stride_y", "stride_x", "rows", "columns")  # fmt: skip
"""Sizes of a plane, padding before it, the window, distances between its elements and between windows, number of windows."""
_LANES = {"avx512": 16, "avx2": 8}
"""Elements copied together, by the variants whose vectors can leave elements out."""


def can_copy(for_target: Target) -> bool:
    """Return whether there is a kernel for this variant."""
    return for_target.variant in _LANES


@lru_cache(maxsize=4)
def library(for_target: Target) -> Mapping[str, Callable[..., Any]]:  # what the signature says
    """Return `windows(x, out, fill, planes, geometry)`.

    x: 4-byte elements [planes, height, width]; out: [planes, kernel_y * kernel_x, rows * columns]; both C-contiguous. fill: address
    of the padding's element; geometry: int64, what `GEOMETRY` names.
    """
    return compile_library("windows", for_target, (Path(__file__),), _build, {"windows": (None, [_P, _P, _P, _N, _P])})


def _build(for_target: Target) -> object:
    from llvmlite import ir

    from fleet.sdk.native_ir import I32, I64, POINTER, NativeEmitter, Value, vector

    lanes = _LANES[for_target.variant]
    typ = vector(I32, lanes)
    module: Value = ir.Module("windows")
    arguments = (("x", POINTER), ("out", POINTER), ("fill", POINTER), ("planes", I64), ("geometry", POINTER))
    e = NativeEmitter(module, "windows", ir.VoidType(), arguments)
    b = e.builder
    g = {name: e.load(I64, e["geometry"], 8 * i, align=8) for i, name in enumerate(GEOMETRY)}
    fill = e.load(I32, e["fill"], align=4)
    zero, one = e.number(0), e.number(1)
    count = ir.Constant(typ, [ir.Constant(I32, i) for i in range(lanes)])

    def reached(distance: Value) -> Value:
        """Return the first window of the row at `distance` or behind it."""
        whole = b.sdiv(b.add(distance, b.sub(g["stride_x"], one)), g["stride_x"])
        whole = b.select(b.icmp_signed(">", distance, zero), whole, zero)
        return b.select(b.icmp_signed("<", whole, g["columns"]), whole, g["columns"])

    def places(first: Value) -> Value:
        return b.add(e.broadcast(b.trunc(first, I32), lanes), count)

    def inside(at: Value, low: Value, high: Value) -> Value:
        low, high = (e.broadcast(b.trunc(v, I32), lanes) for v in (low, high))
        return b.and_(b.icmp_signed(">=", at, low), b.icmp_signed("<", at, high))

    def loaded(source: Value, start: Value, where: Value) -> Value:
        """Return the elements from `start` on; the padding's where the flags say no, and nothing is read there."""
        return e.call(f"llvm.masked.load.v{lanes}i32.p0", typ, e.at(source, e.scaled(start, 4)), where, e.broadcast(fill, lanes))

    def stored(value: Value, target: Value, start: Value, where: Value) -> None:
        e.call(f"llvm.masked.store.v{lanes}i32.p0", ir.VoidType(), value, e.at(target, e.scaled(start, 4)), where)

    def neighbours(source: Value, target: Value, low: Value, high: Value) -> None:
        with e.loop(0, g["columns"], lanes) as start:
            at = places(start)
            stored(loaded(source, start, inside(at, low, high)), target, start, inside(at, zero, g["columns"]))

    def every_second(source: Value, target: Value, low: Value, high: Value) -> None:
        low, high = e.scaled(low, 2), b.sub(e.scaled(high, 2), one)
        with e.loop(0, g["columns"], lanes) as start:
            first = e.scaled(start, 2)
            halves = [(n, inside(places(n), low, high)) for n in (first, b.add(first, e.number(lanes)))]
            left, right = (loaded(source, *half) for half in halves)
            value = e.shuffle(left, right, range(0, 2 * lanes, 2))
            stored(value, target, start, inside(places(start), zero, g["columns"]))

    def one_by_one(source: Value, target: Value, low: Value, high: Value) -> None:
        with e.loop(0, g["columns"]) as n:
            e.store(fill, target, e.scaled(n, 4), align=4)
        with e.loop(low, high) as n:
            value = e.load(I32, source, e.scaled(b.mul(n, g["stride_x"]), 4), align=4)
            e.store(value, target, e.scaled(n, 4), align=4)

    window, row = b.mul(g["kernel_y"], g["kernel_x"]), e.scaled(g["columns"], 4)
    with e.loop(0, e["planes"]) as p, e.loop(0, g["kernel_y"]) as ky, e.loop(0, g["kernel_x"]) as kx:
        from_x = b.sub(b.mul(kx, g["dilation_x"]), g["low_x"])
        low, high = reached(b.sub(zero, from_x)), reached(b.sub(g["width"], from_x))
        element = b.add(b.mul(p, window), b.add(b.mul(ky, g["kernel_x"]), kx))
        target = e.at(e["out"], b.mul(element, b.mul(g["rows"], row)))
        from_y = b.sub(b.mul(ky, g["dilation_y"]), g["low_y"])

        def rows(copy: Callable[[Value, Value, Value, Value], None]) -> None:
            with e.loop(0, g["rows"]) as oy:
                y = b.add(b.mul(oy, g["stride_y"]), from_y)
                there = b.icmp_unsigned("<", y, g["height"])  # a negative one is far beyond
                at = b.add(b.mul(b.add(b.mul(p, g["height"]), y), g["width"]), from_x)
                ends = b.select(there, high, low)
                copy(e.at(e["x"], e.scaled(at, 4)), e.at(target, b.mul(oy, row)), low, ends)

        with b.if_else(b.icmp_signed("==", g["stride_x"], one)) as (dense, sparse):
            with dense:
                rows(neighbours)
            with sparse, b.if_else(b.icmp_signed("==", g["stride_x"], e.number(2))) as (second, other):
                with second:
                    rows(every_second)
                with other:
                    rows(one_by_one)
    b.ret_void()
    return module
