"""sin and cos: subtract a multiple of pi/2 in three parts from the angle, then evaluate one of two polynomials."""

from __future__ import annotations

import math

from llvmlite import ir

from fleet.targets.riscv.faults import RuntimeFault, emit_fault
from fleet.targets.riscv.kernels.kernel import I64, Builder, Value, index
from fleet.targets.riscv.kernels.math import Core, bits_of, call_reduction

LARGEST_ANGLE = 2.0**30
"""Beyond it the stated error would not hold: generated code stops with a fault. Infinity gives NaN."""
_PARTS = (1.5707963267948966, 6.123233995736766e-17, -1.4973849048591698e-33)
_MAGIC = 1.5 * 2.0**52


class Angles(Core):
    """Emits sin and cos of float64 values."""

    def sin(self, x: Value) -> Value:
        """Emit the sine; the sign of zero stays."""
        return self.b.select(self.b.fcmp_ordered("==", x, self.c(0.0)), x, self._wave(x, 0))

    def cos(self, x: Value) -> Value:
        """Emit the cosine."""
        return self._wave(x, 1)

    def _wave(self, x: Value, shift: int) -> Value:
        b = self.b
        size = self.magnitude(x)
        finite = b.fcmp_ordered("<", size, self.c(math.inf))
        self._check(b.and_(finite, b.fcmp_ordered(">", size, self.c(LARGEST_ANGLE))))
        t = self.fma(x, self.c(2 / math.pi), self.c(_MAGIC))
        n = b.sub(b.bitcast(t, self.i64), self.i(bits_of(_MAGIC) - shift))
        minus = b.fsub(self.c(_MAGIC), t)
        # x - n pi/2: the first difference is exact, because no operand has bits below those of pi/2's first part.
        first = self.fma(minus, self.c(_PARTS[0]), x)
        # The second one is not: Knuth's method finds its rounding error, a fused multiply-add that of the product.
        second = b.fmul(minus, self.c(_PARTS[1]))
        r = b.fadd(first, second)
        part = b.fsub(r, first)
        lost = b.fadd(b.fsub(first, b.fsub(r, part)), b.fsub(second, part))
        lost = b.fadd(lost, self.fma(minus, self.c(_PARTS[1]), b.fneg(second)))
        low = self.fma(minus, self.c(_PARTS[2]), lost)
        z = b.fmul(r, r)
        odd = b.fmul(b.fmul(z, r), self.polynomial(z, [(-1) ** (i + 1) / math.factorial(2 * i + 3) for i in range(8)]))
        sine = b.fadd(r, b.fadd(odd, self.fma(b.fmul(z, self.c(-0.5)), low, low)))
        even = self.polynomial(z, [(-1) ** i / math.factorial(2 * i + 4) for i in range(8)])
        half = b.fmul(z, self.c(0.5))
        whole = b.fsub(self.c(1.0), half)
        lost = b.fsub(b.fsub(self.c(1.0), whole), half)
        cosine = b.fadd(whole, b.fadd(lost, self.fma(b.fmul(z, z), even, b.fneg(b.fmul(r, low)))))
        value = b.select(b.icmp_signed("!=", b.and_(n, self.i(1)), self.i(0)), cosine, sine)
        sign = b.shl(b.and_(n, self.i(2)), self.i(62))
        return b.bitcast(b.xor(b.bitcast(value, self.i64), sign), self.f64)

    def _check(self, beyond: Value) -> None:
        b: Builder = self.b
        any_ = beyond if self.lanes == 1 else call_reduction(b, "or", beyond)
        limit = ir.Constant(I64, int(LARGEST_ANGLE))
        emit_fault(b, any_, RuntimeFault.ANGLE, index(0), limit)
