"""Code that differs between processors: vector width, the small dot product, codes from nibbles, FP16 to binary32.

A vector holds `width` channels. Its codes come as four bytes per channel, each code + 8 (1 ... 15, so that it is unsigned); a dword
of `x` holds the four digits (-128 ... 127) that they are multiplied by.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from llvmlite import ir

from fleet.sdk.native import Target
from fleet.sdk.native_ir import F16, F32, I8, I16, I32, POINTER, NativeEmitter, Value, splat, vector
from fleet.sets.hbm0923.kernel._sizes import MOST_WIDTH

QUADS = 8
"""Dot products of length four in a unit of 32 inputs."""
_CODES = [8, 9, 10, 11, 12, 13, 14, 15, 8, 7, 6, 5, 4, 3, 2, 1]
"""Nibble (sign and magnitude) -> code + 8."""


@dataclass(frozen=True)
class VectorLanes:
    """One processor variant.

    Attributes:
        width: channels of a vector.
        vectors: per block; with six digits per channel the accumulators still fit into the registers.
    """

    variant: str
    width: int
    vectors: int

    @property
    def block(self) -> int:
        """Channels of a block."""
        return self.width * self.vectors

    def unit(
        self, e: NativeEmitter, sums: Sequence[Value], codes: Sequence[Sequence[Value]], x: Sequence[Sequence[Value]]
    ) -> list[Value]:
        """Add the products of one unit.

        Args:
            e: the function.
            sums: [digit * vectors + vector], width x int32 each.
            codes: [vector][quad], 4 * width bytes each.
            x: [digit][quad], a dword of digits each.

        Returns:
            The new sums. Additions to different sums alternate, so that their chains run in parallel.
        """
        b = e.builder
        narrow = self._narrow(sums)
        for q in range(QUADS):
            for d, digits in enumerate(x):
                wide = b.bitcast(e.broadcast(digits[q], self.width), vector(I8, 4 * self.width))
                for j, quads in enumerate(codes):
                    narrow[d * self.vectors + j] = self._step(e, narrow[d * self.vectors + j], quads[q], wide)
        return narrow if self.variant == "avx512" else [self._widen(e, s, n) for s, n in zip(sums, narrow, strict=True)]

    def _narrow(self, sums: Sequence[Value]) -> list[Value]:
        """Return accumulators for a unit's products: 16 bits per lane, enough for a unit, if there is no better instruction."""
        if self.variant == "avx512":
            return list(sums)
        lanes = 2 * self.width if self.variant == "avx2" else 4 * self.width
        return [splat(vector(I16, lanes), 0) for _ in sums]

    def _step(self, e: NativeEmitter, narrow: Value, codes: Value, x: Value) -> Value:
        b = e.builder
        if self.variant == "avx512":
            return e.call("llvm.x86.avx512.vpdpbusd.512", narrow.type, narrow, codes, x)
        if self.variant == "avx2":
            # A pair is at most 2 * 15 * 128, eight of them 30,720: no saturation, no overflow.
            return b.add(narrow, e.call("llvm.x86.avx2.pmadd.ub.sw", narrow.type, codes, x))
        return b.add(narrow, b.mul(b.zext(codes, narrow.type), b.sext(x, narrow.type)))

    def _widen(self, e: NativeEmitter, sums: Value, narrow: Value) -> Value:
        b = e.builder
        if self.variant == "avx2":
            return b.add(sums, e.call("llvm.x86.avx2.pmadd.wd", sums.type, narrow, splat(narrow.type, 1)))
        for first in range(4):
            part = e.shuffle(narrow, narrow, [4 * lane + first for lane in range(self.width)])
            sums = b.add(sums, b.sext(part, sums.type))
        return sums

    def scaled_sum(self, e: NativeEmitter, high: Value, factor: float, low: Value) -> Value:
        """Return high * factor + low in binary64. Both steps are exact, so fusing them changes nothing."""
        return self.multiply_add(e, high, splat(high.type, factor), low)

    def multiply_add(self, e: NativeEmitter, x: Value, y: Value, z: Value) -> Value:
        """Return x * y + z of vectors of binary64, fused where the processor can: callers allow one rounding more."""
        if self.variant == "portable":
            return e.builder.fadd(e.builder.fmul(x, y), z)
        return e.call(f"llvm.fma.v{self.width}f64", x.type, x, y, z)

    def codes(self, e: NativeEmitter, nibbles: Value) -> Value:
        """Convert bytes 0 ... 15 to code + 8."""
        b, typ = e.builder, nibbles.type
        lookup = {"avx512": "llvm.x86.avx512.pshuf.b.512", "avx2": "llvm.x86.avx2.pshuf.b"}.get(self.variant)
        if lookup:
            table = ir.Constant(typ, [ir.Constant(I8, v) for v in _CODES] * (typ.count // 16))
            return e.call(lookup, typ, table, nibbles)
        negative = b.icmp_unsigned(">=", nibbles, splat(typ, 8))
        return b.select(negative, b.sub(splat(typ, 16), nibbles), b.add(nibbles, splat(typ, 8)))

    def to_float(self, e: NativeEmitter, bits: Value) -> Value:
        """Convert FP16 bit patterns (a vector of i16) to binary32: exact; NaN stays NaN."""
        b = e.builder
        typ = vector(F32, bits.type.count)
        if self.variant != "portable":
            return b.fpext(b.bitcast(bits, vector(F16, bits.type.count)), typ)
        # LLVM would call a function of the compiler's library. The exponents differ by 112; 2^112 times a binary32 with FP16's
        # exponent field is exact, subnormals included.
        wide = b.zext(bits, vector(I32, bits.type.count))
        magnitude = b.shl(b.and_(wide, splat(wide.type, 0x7FFF)), splat(wide.type, 13))
        value = b.bitcast(b.fmul(b.bitcast(magnitude, typ), splat(typ, 2.0**112)), wide.type)
        odd = b.icmp_unsigned(">=", magnitude, splat(wide.type, 0x7C00 << 13))
        value = b.select(odd, b.or_(magnitude, splat(wide.type, 0x7F800000)), value)
        return b.bitcast(b.or_(value, b.shl(b.and_(wide, splat(wide.type, 0x8000)), splat(wide.type, 16))), typ)


def lanes_of(target: Target) -> VectorLanes:
    """Return the widths that a variant computes with."""
    width, vectors = {"avx512": (MOST_WIDTH, 4), "avx2": (8, 2), "portable": (4, 2)}[target.variant]
    return VectorLanes(target.variant, width, vectors)


def transpose(e: NativeEmitter, rows: list[Value]) -> list[Value]:
    """Transpose [row][group][column] to [column][group][row] for four rows and columns: dwords within each 128 bits."""
    groups = range(rows[0].type.count // 4)

    def pick(left: Value, right: Value, order: list[int]) -> Value:
        """Shuffle dwords. order: 0 ... 3 selects from the left, 4 ... 7 from the right, in every group of four."""
        n = left.type.count
        return e.shuffle(left, right, [4 * g + o if o < 4 else n + 4 * g + o - 4 for g in groups for o in order])

    low = [pick(rows[0], rows[1], [0, 4, 1, 5]), pick(rows[2], rows[3], [0, 4, 1, 5])]
    high = [pick(rows[0], rows[1], [2, 6, 3, 7]), pick(rows[2], rows[3], [2, 6, 3, 7])]
    return [pick(left, right, order) for left, right in (low, high) for order in ([0, 1, 4, 5], [2, 3, 6, 7])]


def eight_columns(e: NativeEmitter, lanes: VectorLanes, pointers: Value, offset: Value) -> list[Value]:
    """Return [column]: eight FP16 from `offset` on, of `width` rows side by side, as binary32. pointers: of the rows."""
    b = e.builder
    rows = [e.load(vector(I32, 4), e.load(POINTER, pointers, 8 * i, align=8), offset) for i in range(lanes.width)]
    columns: list[Value] = []
    for pair in transpose(e, [e.concatenate(rows[r::4]) for r in range(4)]):
        for bits in (pair, b.lshr(pair, splat(pair.type, 16))):
            columns.append(lanes.to_float(e, b.trunc(bits, vector(I16, lanes.width))))
    return columns
