"""The largest and the smallest magnitude of FP16 values, of which bounds of their sums are made."""

from __future__ import annotations

from collections.abc import Sequence

from llvmlite import ir

from fleet.sdk.native_ir import F32, I32, NativeEmitter, Value, splat, vector
from fleet.sets.hbm0923.kernel._lanes import VectorLanes

_ONE_EXPONENT = 1 << 23
"""Subtracted from a magnitude, it turns a zero into the largest of all, which no minimum takes."""
_SMALLEST = 113
"""Exponent field in binary32 of FP16's smallest normal: below it the unit stays."""
_MANTISSA_BITS = 10
"""Bits of FP16 behind the leading one."""


class Extremes:
    """The largest and the smallest magnitude other than 0 that each lane of a vector has seen, as binary32 patterns."""

    def __init__(self, e: NativeEmitter, lanes: VectorLanes) -> None:
        self._e, self._type = e, vector(I32, lanes.width)
        self._largest, self._smallest = e.room(self._type), e.room(self._type)

    def clear(self) -> None:
        """Forget all."""
        self._e.store(splat(self._type, 0), self._largest, align=64)
        self._e.store(splat(self._type, -1), self._smallest, align=64)

    def largest(self) -> Value:
        """Return the largest magnitude, binary32; infinite or NaN if one of the values was."""
        return self._e.builder.bitcast(self._load(self._largest), vector(F32, self._type.count))

    def common_unit(self) -> Value:
        """Return the power of two, in binary32, that all values are multiples of; anything if all were zeros."""
        b = self._e.builder
        pattern = b.shl(b.sub(self.unit(), splat(self._type, _MANTISSA_BITS)), splat(self._type, 23))
        return b.bitcast(pattern, vector(F32, self._type.count))

    def common_unit_of_all(self) -> Value:
        """Return the power of two, in binary32, that the values of all lanes are multiples of; anything if all were zeros."""
        b = self._e.builder
        unit = self._e.call(f"llvm.vector.reduce.smin.v{self._type.count}i32", I32, self.unit())
        return b.bitcast(b.shl(b.sub(unit, ir.Constant(I32, _MANTISSA_BITS)), ir.Constant(I32, 23)), F32)

    def add(self, values: Sequence[Value]) -> None:
        """Update the extremes with vectors of binary32."""
        e, b = self._e, self._e.builder
        largest, smallest = self._load(self._largest), self._load(self._smallest)
        for value in values:
            magnitude = b.and_(b.bitcast(value, self._type), splat(self._type, 0x7FFFFFFF))
            less = b.sub(magnitude, splat(self._type, _ONE_EXPONENT))
            largest = b.select(b.icmp_unsigned(">", magnitude, largest), magnitude, largest)
            smallest = b.select(b.icmp_unsigned("<", less, smallest), less, smallest)
        e.store(largest, self._largest, align=64)
        e.store(smallest, self._smallest, align=64)

    def unit(self) -> Value:
        """The exponent field of what has the same unit as the smallest; large if there was none."""
        b = self._e.builder
        field = b.add(b.lshr(self._load(self._smallest), splat(self._type, 23)), splat(self._type, 1))
        return b.select(b.icmp_signed(">", field, splat(self._type, _SMALLEST)), field, splat(self._type, _SMALLEST))

    def _load(self, where: Value) -> Value:
        return self._e.load(self._type, where, align=64)
