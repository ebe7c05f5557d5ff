"""Conversions between float16, which is its bits in an i16, and float32 or float64: NumPy's results, with integer instructions."""

from __future__ import annotations

from typing import Any

from llvmlite import ir

Value = Any
Builder = Any

_INFINITY = 0x7F80_0000
"""Bits of float32."""
_TWO_TO_112 = 2.0**112
"""The distance of the exponents' biases, 127 - 15, as a factor."""
_LEAST_NORMAL = 113 << 23
"""Bits of 2**-14 in float32, the smallest normal float16."""
_BEYOND = 143 << 23
"""Bits of 2**16 in float32: from here on all is infinite in float16."""
_SUBNORMAL = (113 - 1 + 14) << 23
"""Bits of 0.5 in float32: a sum with it has the steps of float16's subnormal numbers, 2**-24."""


def widened(b: Builder, bits: Value) -> Value:
    """Emit float16 -> float32, exactly."""
    integer, single = _types(bits)
    number = b.zext(bits, integer)
    size = b.and_(number, _all(integer, 0x7FFF))
    moved = b.shl(size, _all(integer, 13))
    scaled = b.bitcast(b.fmul(b.bitcast(moved, single), _all(single, _TWO_TO_112)), integer)
    special = b.or_(moved, _all(integer, _INFINITY))
    found = b.select(b.icmp_unsigned(">=", size, _all(integer, 0x7C00)), special, scaled)
    return b.bitcast(b.or_(found, b.shl(b.and_(number, _all(integer, 0x8000)), _all(integer, 16))), single)


def narrowed(b: Builder, value: Value) -> Value:
    """Emit float32 or float64 -> float16, rounded once, to even."""
    integer, single = _types(value)
    if value.type != single:
        value = _to_odd(b, value, integer, single)
    bits = b.bitcast(value, integer)
    size = b.and_(bits, _all(integer, 0x7FFF_FFFF))
    odd = b.and_(b.lshr(size, _all(integer, 13)), _all(integer, 1))
    shifted = b.add(b.sub(size, _all(integer, 112 << 23)), b.add(odd, _all(integer, 0xFFF)))
    half = b.lshr(shifted, _all(integer, 13))
    summed = b.fadd(b.bitcast(size, single), b.bitcast(_all(integer, _SUBNORMAL), single))
    small = b.sub(b.bitcast(summed, integer), _all(integer, _SUBNORMAL))
    half = b.select(b.icmp_unsigned("<", size, _all(integer, _LEAST_NORMAL)), small, half)
    half = b.select(b.icmp_unsigned(">=", size, _all(integer, _BEYOND)), _all(integer, 0x7C00), half)
    payload = b.lshr(b.and_(size, _all(integer, 0x7F_FFFF)), _all(integer, 13))
    payload = b.select(b.icmp_unsigned("==", payload, _all(integer, 0)), _all(integer, 1), payload)
    half = b.select(b.icmp_unsigned(">", size, _all(integer, _INFINITY)), b.or_(payload, _all(integer, 0x7C00)), half)
    half = b.or_(half, b.and_(b.lshr(bits, _all(integer, 16)), _all(integer, 0x8000)))
    return b.trunc(half, _like(integer, ir.IntType(16)))


def _to_odd(b: Builder, value: Value, integer: Any, single: Any) -> Value:
    """Emit float64 -> float32, an inexact result to the neighbour whose last bit is 1: rounding it again is rounding once."""
    near = b.fptrunc(value, single)
    back = b.fpext(near, value.type)
    bits = b.bitcast(near, integer)
    even = b.icmp_unsigned("==", b.and_(bits, _all(integer, 1)), _all(integer, 0))
    negative = b.fcmp_ordered("<", value, _all(value.type, 0.0))
    above = b.fcmp_ordered(">", back, value)
    step = b.select(b.xor(above, negative), _all(integer, -1), _all(integer, 1))
    wrong = b.and_(b.fcmp_ordered("!=", back, value), even)
    return b.bitcast(b.select(wrong, b.add(bits, step), bits), single)


def _types(value: Value) -> tuple[Any, Any]:
    return _like(value.type, ir.IntType(32)), _like(value.type, ir.FloatType())


def _like(type_: Any, element: Any) -> Any:
    return ir.VectorType(element, type_.count) if isinstance(type_, ir.VectorType) else element


def _all(type_: Any, value: float) -> Value:
    return ir.Constant(type_, [value] * type_.count if isinstance(type_, ir.VectorType) else value)
