"""The reference of the tests: docs/arithmetic.md in exact rationals, and the layouts byte by byte.

Written from the text alone; nothing of `fleet.sets.hbm0923` is imported here, and no floating-point unit is used.
A value is a Fraction, or one of the strings "nan", "inf", "-inf", "-0" (zeros need a sign).
"""

from __future__ import annotations

from fractions import Fraction

Value = Fraction | str


def decode(bits: int, exponent_bits: int, mantissa_bits: int) -> Value:
    """An IEEE bit pattern as an exact value."""
    sign = bits >> (exponent_bits + mantissa_bits)
    exponent = bits >> mantissa_bits & ((1 << exponent_bits) - 1)
    mantissa = bits & ((1 << mantissa_bits) - 1)
    bias = (1 << (exponent_bits - 1)) - 1
    if exponent == (1 << exponent_bits) - 1:
        return "nan" if mantissa else ("-inf" if sign else "inf")
    if exponent == 0 and mantissa == 0:
        return "-0" if sign else Fraction(0)
    if exponent:
        mantissa |= 1 << mantissa_bits
    else:
        exponent = 1
    value = Fraction(mantissa) * Fraction(2) ** (exponent - bias - mantissa_bits)
    return -value if sign else value


def half(bits: int) -> Value:
    return decode(bits, 5, 10)


def power(exponent: int) -> Fraction:
    return Fraction(1 << exponent) if exponent >= 0 else Fraction(1, 1 << -exponent)


def floor_log2(v: Fraction) -> int:
    e = v.numerator.bit_length() - v.denominator.bit_length()
    return e if power(e) <= v else e - 1


def to_integer(v: Fraction) -> int:
    """Nearest integer, ties to even."""
    whole, rest = divmod(v, 1)
    return int(whole) + (rest > Fraction(1, 2) or (rest == Fraction(1, 2) and whole % 2 == 1))


def round_to(v: Value, mantissa_bits: int, min_exponent: int, max_exponent: int) -> Value:
    """Nearest even with subnormals; `min_exponent` of the smallest normal. A zero keeps the sign of v."""
    if isinstance(v, str) or v == 0:
        return v
    unit = power(max(floor_log2(abs(v)), min_exponent) - mantissa_bits)
    rounded = to_integer(abs(v) / unit) * unit
    if rounded >= power(max_exponent + 1):
        return "inf" if v > 0 else "-inf"
    if rounded == 0:
        return Fraction(0) if v > 0 else "-0"
    return rounded if v > 0 else -rounded


def rne32(v: Value) -> Value:
    return round_to(v, 23, -126, 127)


def encode16(v: Value) -> int:
    """rne16 and the bit pattern."""
    r = round_to(v, 10, -14, 15)
    if isinstance(r, str):
        return {"nan": 0x7E00, "inf": 0x7C00, "-inf": 0xFC00, "-0": 0x8000}[r]
    sign = 0x8000 if r < 0 else 0
    units = abs(r) / Fraction(2) ** -24
    assert units.denominator == 1
    n = units.numerator
    shift = max(n.bit_length() - 11, 0)
    if n < 1 << 10:
        return sign | n
    return sign | ((shift + 1) << 10) | ((n >> shift) & 0x3FF)


def negative(v: Value) -> bool:
    return v in {"-inf", "-0"} if isinstance(v, str) else v < 0


def is_zero(v: Value) -> bool:
    return v == "-0" if isinstance(v, str) else v == 0


def finite(v: Value) -> Fraction:
    """The number, without a zero's sign."""
    return Fraction(0) if isinstance(v, str) else v


def mul32(a: Value, b: Value) -> Value:
    if "nan" in (a, b):
        return "nan"
    minus = negative(a) != negative(b)
    if any(v in ("inf", "-inf") for v in (a, b)):
        return "nan" if is_zero(a) or is_zero(b) else ("-inf" if minus else "inf")
    if is_zero(a) or is_zero(b):
        return "-0" if minus else Fraction(0)
    return rne32(finite(a) * finite(b))


def add32(a: Value, b: Value) -> Value:
    if "nan" in (a, b):
        return "nan"
    infinities = {v for v in (a, b) if v in ("inf", "-inf")}
    if infinities:
        return "nan" if len(infinities) == 2 else infinities.pop()
    if a == "-0" and b == "-0":
        return "-0"
    return rne32(finite(a) + finite(b))


def group_sum(lanes: list[Value], codes: list[int]) -> Value:
    """S of a group: codes are nibbles."""
    values = [(-1 if c & 8 else 1) * (c & 7) for c in codes]
    if "nan" in lanes:
        return "nan"
    infinities: set[str] = set()
    for x, q in zip(lanes, values, strict=True):
        if x in ("inf", "-inf"):
            if q == 0:
                return "nan"
            infinities.add("inf" if (x == "inf") == (q > 0) else "-inf")
    if infinities:
        return "nan" if len(infinities) == 2 else infinities.pop()
    total = sum((finite(x) * q for x, q in zip(lanes, values, strict=True)), Fraction(0))
    units = total / Fraction(2) ** -24
    assert units.denominator == 1
    assert abs(units) < 2**50, "the bound of docs/arithmetic.md"
    return total


def sum_of_groups(sums: list[Value], scales: list[Value]) -> Value:
    """The exact sum of sums[g] * scales[g], rounded once; a zero is +0."""
    total, infinities = Fraction(0), set[bool]()
    for s, scale in zip(sums, scales, strict=True):
        if "nan" in (s, scale):
            return "nan"
        if any(v in ("inf", "-inf") for v in (s, scale)):
            if is_zero(s) or is_zero(scale):
                return "nan"
            infinities.add(negative(s) != negative(scale))
        else:
            total += finite(s) * finite(scale)
    if infinities:
        return "nan" if len(infinities) == 2 else ("-inf" if True in infinities else "inf")
    assert (total * 2**48).denominator == 1
    assert abs(total) < 2**54, "the bound of docs/arithmetic.md"
    return rne32(total)


def mvm(
    x: list[int],
    codes: list[int],
    scales: list[int],
    tblk: int,
    bn: int | None = None,
    residual: int | None = None,
    *,
    mul: bool = False,
    relu: bool = False,
) -> int:
    """One token, one channel: FP16 bit patterns in (x, scales, residual; bn a word), FP16 bit pattern out."""
    starts = range(0, len(x), tblk)
    sums = [group_sum([half(b) for b in x[i : i + tblk]], codes[i : i + tblk]) for i in starts]
    v = sum_of_groups(sums, [half(b) for b in scales[: len(starts)]])
    if bn is not None:
        v = add32(mul32(v, half(bn >> 16)), half(bn & 0xFFFF))
    if residual is not None:
        v = mul32(v, half(residual)) if mul else add32(v, half(residual))
    if relu and v != "nan" and (is_zero(v) or negative(v)):
        v = Fraction(0)
    return encode16(v)


def argmax(bits: list[int]) -> int:
    """Lowest index of the largest; the first NaN wins; zeros are equal."""
    order = {"inf": Fraction(2) ** 20, "-inf": -(Fraction(2) ** 20), "-0": Fraction(0)}
    best, at = None, 0
    for i, b in enumerate(bits):
        v = half(b)
        if v == "nan":
            return i
        number = order[v] if isinstance(v, str) else v
        if best is None or number > best:
            best, at = number, i
    return at


def pack_channel(codes: list[int], scales: list[int], tblk: int) -> bytes:
    """One channel's stream: nibbles and scale bit patterns, 2,048 inputs at a time."""
    out = bytearray()
    for first in range(0, len(codes), 2048):
        part = codes[first : first + 2048]
        groups = -(-len(part) // tblk)
        for g in range(groups):
            out += scales[first // tblk + g].to_bytes(2, "little")
        while len(out) % 32:
            out.append(0)
        padded = part + [0] * (-len(part) % 64)
        for i in range(0, len(padded), 2):
            out.append(padded[i] | padded[i + 1] << 4)
        while len(out) % 32:
            out.append(0)
    return bytes(out)


def pack_ports(codes: list[list[int]], scales: list[list[int]], tblk: int, ports: int) -> list[bytes]:
    """Streams of all ports; codes[c] and scales[c] of output channel c."""
    out = [bytearray() for _ in range(ports)]
    padded = -(-len(codes) // ports) * ports
    for c in range(padded):
        real = c < len(codes)
        channel = codes[c] if real else [0] * len(codes[0])
        out[c % ports] += pack_channel(channel, scales[c] if real else [0] * len(scales[0]), tblk)
    return [bytes(o) for o in out]


def feature_address(base: int, surface: int, token: int, channel: int) -> int:
    return base + channel // 32 * surface + token * 64 + channel % 32 * 2
