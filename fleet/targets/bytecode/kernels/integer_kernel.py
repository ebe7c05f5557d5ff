"""Products of int32 matrices, compiled for this processor.

Where there are many rows, elements must fit into int16: the instruction multiplies pairs of int16 and adds both products to an
int32 sum. A block of columns of the right matrix is packed for it, two rows per 32-bit word, into a panel that stays in the L2
cache. The rows of the left matrix pass over the panel, a few at a time. Where there are few rows, int32 is multiplied as it is.
Products and sums are exact modulo 2^32 in any order, so the result equals NumPy's bit for bit.
"""

from __future__ import annotations

import ctypes
from collections.abc import Callable, Mapping
from functools import lru_cache
from pathlib import Path
from typing import Any, NamedTuple

from fleet.sdk.native import Target, compile_library

_P, _N = ctypes.c_void_p, ctypes.c_int64
_PRODUCT = (_N, [_P, _N, _P, _N, _P, _N, _P, _N, _N, _N])
_FEW_ROWS = (None, [_P, _P, _P, _N, _N, _N, _N])
_TOGETHER = 4
"""Vectors of columns whose sums are kept in registers where there are few rows."""


class KernelSizes(NamedTuple):
    """Block sizes of one variant. lanes: per vector; vectors: per block of columns; rows: that pass over the panel together."""

    lanes: int
    vectors: int
    rows: int

    @property
    def columns(self) -> int:
        """Columns of a block."""
        return self.lanes * self.vectors


def sizes_of(for_target: Target) -> KernelSizes:
    """Return block sizes for which sums, columns and one factor fit into the processor's registers."""
    return {"avx512": KernelSizes(16, 4, 6), "avx2": KernelSizes(8, 2, 6), "portable": KernelSizes(4, 2, 4)}[for_target.variant]


@lru_cache(maxsize=4)
def library(for_target: Target) -> Mapping[str, Callable[..., Any]]:  # what the signature says
    """Return `product` and `few_rows`.

    `product(a, a_row, b, b_row, c, c_row, panel, rows, pairs, columns)`: c = a @ b. It returns 1 if an element of b exceeds int16,
    else 0. a: int16 [rows, 2 * pairs], with a_row bytes per row; b: int32 [2 * pairs, columns]; c: int32 [rows, columns], with room
    for whole blocks of columns; panel: scratch, int32 [pairs, columns of a block].

    `few_rows(a, b, c, count, rows, inputs, columns)`: c[i] = a[i] @ b[i] for i < count, of any int32, all C-contiguous: a [count,
    rows, inputs], b [count, inputs, columns], c [count, rows, columns].
    """
    signatures = {"product": _PRODUCT, "few_rows": _FEW_ROWS}
    return compile_library("integer_product", for_target, (Path(__file__),), _build, signatures)


def _build(for_target: Target) -> object:
    from llvmlite import ir

    from fleet.sdk.native_ir import I16, I32, I64, POINTER, NativeEmitter, Value, splat, vector

    sizes = sizes_of(for_target)
    lanes = vector(I32, sizes.lanes)
    module: Value = ir.Module("integer_product")
    names = (("a", POINTER), ("a_row", I64), ("b", POINTER), ("b_row", I64), ("c", POINTER), ("c_row", I64), ("panel", POINTER))
    e = NativeEmitter(module, "product", I64, (*names, ("rows", I64), ("pairs", I64), ("columns", I64)))
    b, line = e.builder, 4 * sizes.columns

    def added(total: Value, pair: Value, columns: Value) -> Value:
        """Return total plus the two products of each lane."""
        if for_target.variant == "avx512":
            narrow = vector(I16, 2 * sizes.lanes)
            return e.call("llvm.x86.avx512.vpdpwssd.512", lanes, total, b.bitcast(columns, narrow), b.bitcast(pair, narrow))
        name = {"avx2": "llvm.x86.avx2.pmadd.wd", "portable": "llvm.x86.sse2.pmadd.wd"}[for_target.variant]
        narrow = vector(I16, 2 * sizes.lanes)
        return b.add(total, e.call(name, lanes, b.bitcast(columns, narrow), b.bitcast(pair, narrow)))

    lost = e.room(lanes)
    """Nonzero if an element of b does not fit into int16."""

    def joined(low: Value, high: Value, typ: Value) -> Value:
        bits = splat(typ, 16)
        for value in (low, high):
            more = b.xor(value, b.ashr(b.shl(value, bits), bits))
            e.store(b.or_(e.load(typ, lost, align=4), more), lost, align=4)
        return b.or_(b.and_(low, splat(typ, 0xFFFF)), b.shl(high, splat(typ, 16)))

    def packed(first: Value, left: Value) -> None:
        """Pack the panel of the columns from `first` on, padded with zeros."""
        whole = b.icmp_signed(">=", left, e.number(sizes.columns))
        with e.loop(0, e["pairs"]) as k:
            source = e.at(e["b"], b.add(b.mul(e.scaled(k, 2), e["b_row"]), e.scaled(first, 4)))
            target = e.at(e["panel"], e.scaled(k, line))
            with b.if_else(whole) as (then, otherwise):
                with then:
                    for j in range(sizes.vectors):
                        at = 4 * sizes.lanes * j
                        high = e.load(lanes, source, b.add(e["b_row"], e.number(at)))
                        e.store(joined(e.load(lanes, source, at), high, lanes), target, at)
                with otherwise:
                    for j in range(sizes.vectors):
                        e.store(splat(lanes, 0), target, 4 * sizes.lanes * j)
                    with e.loop(0, left) as n:
                        at = e.scaled(n, 4)
                        e.store(joined(e.load(I32, source, at), e.load(I32, source, b.add(e["b_row"], at)), I32), target, at)

    def rows(first: Value, row: Value, count: int) -> None:
        """Multiply `count` rows by the panel, with the sums in registers."""
        zero = splat(lanes, 0)
        before, head = b.block, b.append_basic_block("pairs")
        body, leave = b.append_basic_block("step"), b.append_basic_block("stored")
        b.branch(head)
        b.position_at_end(head)
        k = b.phi(I64)
        k.add_incoming(e.number(0), before)
        sums = [b.phi(lanes) for _ in range(count * sizes.vectors)]
        for s in sums:
            s.add_incoming(zero, before)
        b.cbranch(b.icmp_signed("<", k, e["pairs"]), body, leave)
        b.position_at_end(body)
        panel = e.at(e["panel"], e.scaled(k, line))
        columns = [e.load(lanes, panel, 4 * sizes.lanes * j) for j in range(sizes.vectors)]
        for i in range(count):
            at = b.add(b.mul(b.add(row, e.number(i)), e["a_row"]), e.scaled(k, 4))
            pair = e.broadcast(e.load(I32, e["a"], at), sizes.lanes)
            for j in range(sizes.vectors):
                s = sums[i * sizes.vectors + j]
                s.add_incoming(added(s, pair, columns[j]), body)
        k.add_incoming(b.add(k, e.number(1)), body)
        b.branch(head)
        b.position_at_end(leave)
        for i in range(count):
            target = e.at(e["c"], b.add(b.mul(b.add(row, e.number(i)), e["c_row"]), e.scaled(first, 4)))
            for j in range(sizes.vectors):
                e.store(sums[i * sizes.vectors + j], target, 4 * sizes.lanes * j)

    most = b.sub(e["rows"], b.srem(e["rows"], e.number(sizes.rows)))
    e.store(splat(lanes, 0), lost)
    with e.loop(0, e["columns"], sizes.columns) as first:
        packed(first, b.sub(e["columns"], first))
        with e.loop(0, most, sizes.rows) as row:
            rows(first, row, sizes.rows)
        with e.loop(most, e["rows"]) as row:
            rows(first, row, 1)
    found = e.call(f"llvm.vector.reduce.or.v{sizes.lanes}i32", I32, e.load(lanes, lost))
    b.ret(b.zext(b.icmp_signed("!=", found, splat(I32, 0)), I64))
    _emit_few_rows(module, sizes.lanes)
    return module


def _emit_few_rows(module: object, width: int) -> None:
    """Emit `few_rows`: nothing is packed, as each element of b is used only `rows` times."""
    from llvmlite import ir

    from fleet.sdk.native_ir import I32, I64, POINTER, NativeEmitter, Value, splat, vector

    names = (("a", POINTER), ("b", POINTER), ("c", POINTER), ("count", I64), ("rows", I64), ("inputs", I64), ("columns", I64))
    e = NativeEmitter(module, "few_rows", ir.VoidType(), names)
    b = e.builder

    def summed(a: Value, matrix: Value, out: Value, typ: Value, vectors: int) -> None:
        """Store the sums of `vectors` vectors of columns; `matrix` and `out` point to the first."""
        step = 4 * (1 if typ is I32 else width)
        zero = splat(typ, 0)
        before, head = b.block, b.append_basic_block("inputs")
        body, leave = b.append_basic_block("input"), b.append_basic_block("stored")
        b.branch(head)
        b.position_at_end(head)
        k, *sums = (b.phi(t) for t in (I64, *[typ] * vectors))
        for phi in (k, *sums):
            phi.add_incoming(e.number(0) if phi is k else zero, before)
        b.cbranch(b.icmp_signed("<", k, e["inputs"]), body, leave)
        b.position_at_end(body)
        factor = e.load(I32, a, e.scaled(k, 4), align=4)
        factor = factor if typ is I32 else e.broadcast(factor, width)
        line = e.at(matrix, b.mul(k, e.scaled(e["columns"], 4)))
        for j, total in enumerate(sums):
            total.add_incoming(b.add(total, b.mul(factor, e.load(typ, line, step * j, align=4))), body)
        k.add_incoming(b.add(k, e.number(1)), body)
        b.branch(head)
        b.position_at_end(leave)
        for j, total in enumerate(sums):
            e.store(total, out, step * j, align=4)

    with e.loop(0, e["count"]) as i, e.loop(0, e["rows"]) as r:
        row = b.add(b.mul(i, e["rows"]), r)
        a = e.at(e["a"], b.mul(row, e.scaled(e["inputs"], 4)))
        matrix = e.at(e["b"], b.mul(b.mul(i, e["inputs"]), e.scaled(e["columns"], 4)))
        out = e.at(e["c"], b.mul(row, e.scaled(e["columns"], 4)))
        start: Value = e.number(0)
        for typ, vectors in ((vector(I32, width), _TOGETHER), (vector(I32, width), 1), (I32, 1)):
            wide = vectors * (1 if typ is I32 else width)
            left = b.sub(e["columns"], start)
            stop = b.add(start, b.sub(left, b.srem(left, e.number(wide))))
            with e.loop(start, stop, wide) as n:
                summed(a, e.at(matrix, e.scaled(n, 4)), e.at(out, e.scaled(n, 4)), typ, vectors)
            start = stop
    b.ret_void()
