"""The one rounding of a sum in binary64 to binary32, where the exact sum certainly rounds so, too."""

from __future__ import annotations

from llvmlite import ir

from fleet.sdk.native_ir import F32, F64, I1, I32, I64, NativeEmitter, Value, splat, vector
from fleet.sets.hbm0923.kernel._extremes import Extremes
from fleet.sets.hbm0923.kernel._sizes import UNDECIDED
from fleet.sets.hbm0923.numerics.sum_bounds import EXACT_UNITS, sum_error


def relative_error(e: NativeEmitter, terms: Value) -> Value:
    """Return `sum_error` of a number of terms."""
    b = e.builder
    each, always = (ir.Constant(F64, v) for v in (sum_error(1) - sum_error(0), sum_error(0)))
    return b.fadd(b.fmul(b.sitofp(terms, F64), each), always)


def round_or_leave(
    e: NativeEmitter, total: Value, seen: Extremes, amount: Value, step: Value, error: Value, left_over: Value
) -> Value:
    """Return a vector of sums in binary32 patterns; what their error leaves open is `UNDECIDED`, and `left_over` becomes 1.

    The terms are products of one factor whose magnitudes add up to `amount`, all multiples of `step`, and of one that `seen` has
    the extremes of. If amount times the largest is no more than 2^53 units of both, the sum is exact; otherwise the exact one lies
    within `error` times as much. A sum that is infinite or NaN is so without doubt.
    """
    b, wide = e.builder, total.type
    width = wide.count
    single, bits = vector(F32, width), vector(I32, width)
    largest, unit = (b.fpext(v, wide) for v in (seen.largest(), seen.common_unit()))
    room = b.fmul(step, ir.Constant(F64, EXACT_UNITS))
    bound = b.fmul(largest, e.broadcast(amount, width))
    exact = b.fcmp_ordered("<=", bound, b.fmul(unit, e.broadcast(room, width)))
    margin = b.select(exact, splat(wide, 0.0), b.fmul(bound, e.broadcast(error, width)))
    low, high = (b.fptrunc(v, single) for v in (b.fsub(total, margin), b.fadd(total, margin)))
    finite = b.fcmp_ordered("==", b.fsub(total, total), splat(wide, 0.0))
    undecided = b.and_(finite, b.fcmp_unordered("!=", low, high))
    some = b.zext(e.call(f"llvm.vector.reduce.or.v{width}i1", I1, undecided), I64)
    e.store(b.or_(e.load(I64, left_over, align=8), some), left_over, align=8)
    return b.select(undecided, splat(bits, UNDECIDED), b.bitcast(b.fptrunc(total, single), bits))
