"""The reference of the tests for the instructions beside MVM: docs/arithmetic.md in exact rationals, element by element.

Written from the text alone; nothing of `fleet.sets.hbm0923` is imported here, and no floating-point unit is used. Values are
those of `mvm_exact`: a Fraction, or one of the strings "nan", "inf", "-inf", "-0".
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from fractions import Fraction
from functools import cache
from math import isqrt

from mvm_exact import Value, encode16, finite, half, is_zero, negative, power, rne32, to_integer
from mvm_exact import add32 as add
from mvm_exact import mul32 as mul

ZERO = Fraction(0)


def neg(a: Value) -> Value:
    if isinstance(a, str):
        return {"nan": "nan", "inf": "-inf", "-inf": "inf", "-0": ZERO}[a]
    return "-0" if a == 0 else -a


def less_equal(a: Value, b: Value) -> bool:
    """a <= b; NaN compares false."""
    if "nan" in (a, b):
        return False
    order = {"inf": Fraction(1 << 200), "-inf": Fraction(-(1 << 200)), "-0": ZERO}
    x, y = (order[v] if isinstance(v, str) else v for v in (a, b))
    return x <= y


def fp20(word: int) -> Value:
    sign, e, m = word >> 19 & 1, word >> 13 & 63, word & 0x1FFF
    if e == 0:
        return "-0" if sign else ZERO
    v = power(e - 31) * (1 + Fraction(m, 1 << 13))
    return -v if sign else v


@cache
def ln2() -> Fraction:
    """ln 2 = sum of 1 / (k 2^k)."""
    return sum((Fraction(1, k << k) for k in range(1, 160)), ZERO)


@cache
def power_of_two(p: int) -> Fraction:
    """2^(p / 2048), 0 <= p < 2048, but for 2^-120: the series of e^x."""
    x, term, value = ln2() * p / 2048, Fraction(1), Fraction(1)
    for k in range(1, 40):
        term = Fraction(int(term * x / k * power(150)), 1 << 150)
        value += term
    return value


Parabola = tuple[int, int, int]


def parabola(low: Fraction, middle: Fraction, high: Fraction, r: int) -> Parabola:
    """A, B, C from f-, f0, f+."""
    scale = power(r)
    b, c = scale * (high - low) * Fraction(4, 7), scale * (high + low - 2 * middle) * Fraction(16, 49)
    return to_integer(scale * middle) + (1 << r - 1), to_integer(b), to_integer(c)


@cache
def exp_parabola(i: int) -> Parabola:
    low, middle, high = (power(25) * power_of_two(16 * i + node) for node in (1, 8, 15))
    return parabola(low, middle, high, 4)


@cache
def recip_parabola(i: int) -> Parabola:
    v = (1 << 18) * i + (1 << 17) + Fraction(1, 2)
    low, middle, high = (power(29) / (1 + (v + side * 114_688) / power(26)) for side in (-1, 0, 1))
    return parabola(low, middle, high, 3)


def at_parabola(coefficients: Parabola, v: int, r: int) -> int:
    a, b, c = coefficients
    h = v % (1 << 18) - (1 << 17)
    return (a + b * h // (1 << 17) + c * (h * h // (1 << 17)) // (1 << 16)) // (1 << r)


def exponential(z: int) -> tuple[int, int]:
    """M and N of z <= 0, in units of 2^-24."""
    u = (max(z, -(1 << 29)) * 0x17154765 + (1 << 26)) // (1 << 27)
    v = u % (1 << 25)
    return at_parabola(exp_parabola(v >> 18), v, 4), -(u // (1 << 25))


def reciprocal(total: int) -> tuple[int, int]:
    """R and k of a sum, in units of 2^-36."""
    k = total.bit_length() - 37
    v = total // (1 << 10 + k) - (1 << 26)
    return at_parabola(recip_parabola(v >> 18), v, 3), k


@cache
def rsqrt_parabola(i: int) -> Parabola:
    """Of interval i % 256, in the lower or upper binade."""
    upper, j = divmod(i, 256)
    v = (1 << 18) * j + (1 << 17) + Fraction(1, 2)
    squares = [power(58) / ((1 + (v + side * 114_688) / power(26)) * (1 << upper)) for side in (-1, 0, 1)]
    low, middle, high = (Fraction(isqrt(int(s * power(200))), 1 << 100) for s in squares)
    return parabola(low, middle, high, 3)


def root(w: int) -> tuple[int, int]:
    """R and k of 1 / sqrt(w)."""
    k = (w.bit_length() - 1) // 2
    upper = w >= 2 * 4**k
    v = w * (1 << 26) // ((2 if upper else 1) * 4**k) - (1 << 26)
    return at_parabola(rsqrt_parabola((256 if upper else 0) + (v >> 18)), v, 3), k


# ---- instructions: FP16 bit patterns of one token's channels in, bit patterns out


def norm(x: list[int], words: list[int], eps: Value, *, layer: bool) -> list[int]:
    values, count = [half(b) for b in x], len(x)
    if any(v in ("nan", "inf", "-inf") for v in values) or eps in ("nan", "inf", "-inf") or not 0 <= finite(eps) < 1 << 16:
        return [0x7E00] * count
    units = [int(finite(v) * power(24)) for v in values]
    total, squares = sum(units), sum(u * u for u in units)
    w = (count * squares - (total * total if layer else 0)) * 2**12 + int(count**2 * finite(eps) * power(60))
    if w == 0:
        return [0x7E00] * count
    r, k = root(w)
    q = rne32(Fraction(r if layer else count * r) * power(1 - k))
    d = [rne32(Fraction(count * u - total) / power(24)) for u in units] if layer else values
    return [encode16(add(mul(mul(v, q), half(w >> 16)), half(w & 0xFFFF))) for v, w in zip(d, words, strict=True)]


def pos_emb(x: list[int], table: list[int]) -> list[int]:
    out: list[int] = []
    for i in range(0, len(x), 2):
        a, b, cos, sin = (half(v) for v in (x[i], x[i + 1], table[i], table[i + 1]))
        out.append(encode16(add(mul(a, cos), neg(mul(b, sin)))))
        out.append(encode16(add(mul(a, sin), mul(b, cos))))
    return out


def softmax(x: list[int], n: int, padded: int) -> list[int]:
    values = [half(b) for b in x[:n]]
    if "nan" in values or "inf" in values or all(v == "-inf" for v in values):
        return [0x7E00] * n + [0] * (padded - n)
    lowest = -(1 << 40)
    units = [lowest - (1 << 29) if v == "-inf" else int(finite(v) * power(24)) for v in values]
    e = [exponential(u - max(units)) for u in units]
    r, k = reciprocal(sum(m * (1 << 11) // (1 << n) for m, n in e))
    return [encode16(m * r * power(-54 - n - k)) for m, n in e] + [0] * (padded - n)


def act(v_bits: int, x: list[int], k: list[int], b: list[int]) -> int:
    v = half(v_bits)
    if v == "nan":
        return 0x7E00
    j = max((i for i in range(16) if less_equal(half(x[i]), v)), default=0)
    slope, offset = half(k[j]), half(b[j])
    if is_zero(slope):
        return encode16(offset)
    return encode16(add(mul(slope, v), offset))


def dot(x: Sequence[int], y: Sequence[int]) -> Value:
    """Attention's dot product of FP16 patterns: one exact sum, rounded once to binary32."""
    a, b = [half(v) for v in x], [half(v) for v in y]
    if "nan" in a or "nan" in b:
        return "nan"
    infinities: set[str] = set()
    for u, v in zip(a, b, strict=True):
        if u in ("inf", "-inf") or v in ("inf", "-inf"):
            if is_zero(u) or is_zero(v):
                return "nan"
            infinities.add("-inf" if negative(u) != negative(v) else "inf")
    if infinities:
        return "nan" if len(infinities) == 2 else infinities.pop()
    units = sum((finite(u) * finite(v) for u, v in zip(a, b, strict=True)), ZERO) * power(48)
    assert units.denominator == 1
    assert abs(units) < len(x) << 80, "the window of docs/arithmetic.md"
    return rne32(units / power(48))


def attention(x: list[int], y: list[int], scale: Value) -> int:
    return encode16(mul(dot(x, y), scale))


ELEMENTWISE: list[Callable[[Value, Value], Value]] = [add, lambda a, b: add(a, neg(b)), mul]


def elementwise(mode: int, a: int, b: int) -> int:
    return encode16(ELEMENTWISE[mode](half(a), half(b)))


def feature_offset(surface: int, line: int, h: int, c: int, w: int) -> int:
    return c // 32 * surface + h * line + w * 64 + c % 32 * 2
