"""erf of float32, compiled for this processor: the steps of `fleet.targets.bytecode.erf` one element after the other.

Multiplications and additions are those of the NumPy path, in its order and in float64, none of them fused, and rounded once at the
end: the bits are the same. NaN is left to NumPy, since which sign a NaN has after a product is the processor's choice.
"""

from __future__ import annotations

import ctypes
from collections.abc import Callable, Mapping
from functools import lru_cache
from pathlib import Path
from typing import Any

from fleet.sdk.native import Target, compile_library

_P, _N = ctypes.c_void_p, ctypes.c_int64
_LANES = {"avx512": 8, "avx2": 4, "portable": 2}
_DEGREE = 3


@lru_cache(maxsize=4)
def library(for_target: Target) -> Mapping[str, Callable[..., Any]]:  # what the signature says
    """Return `narrow(x, out, count, table, places, per_unit, end)`; it returns 1 if an element is NaN, and `out` is then no result.

    x, out: float32 [count]. As `erf` has them: table, float64 [degree, places], C-contiguous; per_unit, places of a unit; end, the
    last argument of the table.
    """
    signature = (_N, [_P, _P, _N, _P, _N, ctypes.c_double, ctypes.c_double])
    return compile_library("erf", for_target, (Path(__file__),), _build, {"narrow": signature})


def _build(for_target: Target) -> object:
    from llvmlite import ir

    from fleet.sdk.native_ir import F32, F64, I64, POINTER, NativeEmitter, Value, vector

    module: Value = ir.Module("erf")
    names = (
        ("x", POINTER), ("out", POINTER), ("count", I64), ("table", POINTER), ("places", I64), ("per_unit", F64), ("end", F64),
    )  # fmt: skip
    e = NativeEmitter(module, "narrow", I64, names)
    b = e.builder
    row = e.scaled(e["places"], 8)
    unordered = e.room(I64)
    e.store(e.number(0), unordered, align=8)

    def evaluated(at: Value, lanes: int) -> None:
        wide = vector(F64, lanes)

        def all_lanes(value: Value | float) -> Value:
            return e.broadcast(ir.Constant(F64, value) if isinstance(value, float) else value, lanes)

        zero, end = all_lanes(0.0), all_lanes(e["end"])
        argument = b.fpext(e.load(vector(F32, lanes), e["x"], at, align=4), wide)
        ordered = b.fcmp_ordered("ord", argument, argument)
        least = e.call(f"llvm.vector.reduce.and.v{lanes}i1", ir.IntType(1), ordered)
        e.store(b.or_(e.load(I64, unordered, align=8), b.zext(b.not_(least), I64)), unordered, align=8)
        argument = b.select(ordered, argument, zero)  # a place of the table for NaN, too
        low = b.fsub(all_lanes(-0.0), end)
        argument = b.select(b.fcmp_ordered("<", argument, low), low, argument)
        argument = b.select(b.fcmp_ordered(">", argument, end), end, argument)
        h = b.fmul(e.call(f"llvm.fabs.v{lanes}f64", wide, argument), all_lanes(e["per_unit"]))
        place = b.fptosi(b.fadd(h, all_lanes(0.5)), vector(I64, lanes))
        h = b.fsub(h, b.sitofp(place, wide))
        addresses = [e.scaled(b.extract_element(place, ir.Constant(I64, i)), 8) for i in range(lanes)]

        def coefficients(degree: int) -> Value:
            found: Value = ir.Constant(wide, ir.Undefined)
            line = e.at(e["table"], e.scaled(row, degree))
            for i, offset in enumerate(addresses):
                found = b.insert_element(found, e.load(F64, line, offset, align=8), ir.Constant(I64, i))
            return found

        value = coefficients(_DEGREE)
        for degree in reversed(range(_DEGREE)):
            value = b.fadd(b.fmul(value, h), coefficients(degree))
        e.store(b.fptrunc(b.fmul(value, argument), vector(F32, lanes)), e["out"], at, align=4)

    lanes = _LANES[for_target.variant]
    whole = b.sub(e["count"], b.srem(e["count"], e.number(lanes)))
    with e.loop(0, whole, lanes) as n:
        evaluated(e.scaled(n, 4), lanes)
    with e.loop(whole, e["count"]) as n:
        evaluated(e.scaled(n, 4), 1)
    b.ret(e.load(I64, unordered, align=8))
    return module
