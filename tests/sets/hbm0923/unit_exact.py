"""The reference of the tests for the instructions beside MVM: docs/arithmetic.md in exact rationals, element by element.

Written from the text alone; nothing of `fleet.sets.hbm0923` is imported here, and no floating-point unit is used. Values are
those of `mvm_exact`: a Fraction, or one of the strings "nan", "inf", "-inf", "-0".
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from fractions import Fraction
from functools import cache
from math import isqrt

from mvm_exact import Value, encode16, finite, floor_log2, half, is_zero, negative, power, rne32, to_integer
from mvm_exact import add32 as add
from mvm_exact import mul32 as mul

ZERO = Fraction(0)


def significant(v: Fraction, bits: int) -> Fraction:
    unit = power(floor_log2(v) + 1 - bits)
    return to_integer(v / unit) * unit


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


def tree32(lanes: Sequence[Value]) -> Value:
    assert len(lanes) == 32
    level = list(lanes)
    while len(level) > 1:
        level = [add(level[i], level[i + 1]) for i in range(0, len(level), 2)]
    return level[0]


def total(values: Sequence[Value]) -> Value:
    """sum(v): the absent lanes of the last beat are +0."""
    acc: Value = ZERO
    for first in range(0, len(values), 32):
        beat = list(values[first : first + 32])
        acc = add(acc, tree32(beat + [ZERO] * (32 - len(beat))))
    return acc


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
def exp_entry(j: int) -> Fraction:
    """rne32(2^(j/32)): the multiple m of 2^-23 whose rounding interval holds it, found by comparing 32nd powers."""
    low, high = 1 << 23, 1 << 24
    while high - low > 1:
        middle = (low + high) // 2
        # middle - 1/2 <= 2^(23 + j / 32)
        if (2 * middle - 1) ** 32 <= 1 << (24 * 32 + j):
            low = middle
        else:
            high = middle
    return Fraction(low, 1 << 23)


def exp32(x: Value) -> Value:
    if x == "nan":
        return x
    if x == "inf" or (not isinstance(x, str) and x > 88):
        return "inf"
    if x == "-inf" or (not isinstance(x, str) and x < -87):
        return ZERO
    step = Fraction(0xB8AA3B, 1 << 18)  # 0x4238AA3B
    scaled = mul(x, step)
    n = to_integer(finite(scaled))
    hi = significant(ln2() / 32, 12)
    lo = rne32(ln2() / 32 - hi)
    count: Value = Fraction(n)
    r = add(add(x, neg(mul(count, hi))), neg(mul(count, lo)))
    q = mul(r, Fraction(0xAAAAAB, 1 << 26))  # 0x3E2AAAAB
    q = add(q, Fraction(1, 2))
    q = mul(mul(q, r), r)
    p = add(q, r)
    t = exp_entry(n % 32)
    return finite(add(t, mul(t, p))) * power((n - n % 32) // 32)


def recip(x: Value) -> Value:
    if x == "nan":
        return x
    minus = negative(x)
    size = None if x in ("inf", "-inf") else abs(finite(x))
    if size is None or size >= power(126):
        return "-0" if minus else ZERO
    if size < power(-126):
        return "-inf" if minus else "inf"
    k = floor_log2(size)
    m = size / power(k)
    i = int((m - 1) * 64)
    y = significant(1 / (1 + (i + Fraction(1, 2)) / 64), 12)
    e = add(Fraction(1), neg(mul(m, y)))
    u = mul(add(e, Fraction(1)), e)
    u = mul(add(u, Fraction(1)), e)
    result = finite(add(y, mul(y, u))) * power(-k)
    return -result if minus else result


@cache
def root_entry(h: int, i: int) -> Fraction:
    """1 / sqrt(2^h (1 + (i + 1/2) / 64)) to 12 bits."""
    square = 1 / ((1 + (i + Fraction(1, 2)) / 64) * (1 << h))
    scaled = square * (1 << 200)
    return significant(Fraction(isqrt(int(scaled)), 1 << 100), 12)


def rsqrt(x: Value) -> Value:
    if x in ("nan", "-inf"):
        return "nan"
    if x == "inf":
        return ZERO
    v = finite(x)
    if abs(v) < power(-126):
        return "inf"
    if v < 0:
        return "nan"
    exponent = floor_log2(v)
    m, h = v / power(exponent), exponent % 2
    z = root_entry(h, int((m - 1) * 64))
    e = add(Fraction(1), neg(mul(m * (1 << h), mul(z, z))))
    u = mul(e, Fraction(5, 16))
    u = mul(add(u, Fraction(3, 8)), e)
    u = mul(add(u, Fraction(1, 2)), e)
    return finite(add(z, mul(z, u))) * power(-(exponent - h) // 2)


# ---- instructions: FP16 bit patterns of one token's channels in, bit patterns out


def norm(x: list[int], words: list[int], inv_word: int, eps: Value, *, layer: bool) -> list[int]:
    values, inv = [half(b) for b in x], fp20(inv_word)
    d = values
    if layer:
        mean = mul(total(values), inv)
        d = [add(v, neg(mean)) for v in values]
    s = mul(total([mul(v, v) for v in d]), inv)
    r = rsqrt(add(s, eps))
    return [encode16(add(mul(mul(v, r), half(w >> 16)), half(w & 0xFFFF))) for v, w in zip(d, words, strict=True)]


def pos_emb(x: list[int], table: list[int]) -> list[int]:
    out: list[int] = []
    for i in range(0, len(x), 2):
        a, b, cos, sin = (half(v) for v in (x[i], x[i + 1], table[i], table[i + 1]))
        out.append(encode16(add(mul(a, cos), neg(mul(b, sin)))))
        out.append(encode16(add(mul(a, sin), mul(b, cos))))
    return out


def softmax(x: list[int], n: int, padded: int) -> list[int]:
    values = [half(b) for b in x[:n]]
    m: Value = "nan"
    for v in values:
        if v != "nan" and (m == "nan" or less_equal(m, v)):
            m = v
    e = [exp32(add(v, neg(m))) for v in values]
    r = recip(total(e))
    return [encode16(mul(v, r)) for v in e] + [0] * (padded - n)


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
