"""exp32, recip, rsqrt, FP20 and sums: to the bit against exact rationals, and their errors against the true functions."""

from __future__ import annotations

import random
from fractions import Fraction

import mpmath
import numpy as np
import pytest
import unit_exact as exact
from mvm_exact import Value, decode

from fleet.errors import DeviceError
from fleet.sets.hbm0923.numerics import functions
from fleet.sets.hbm0923.numerics.float32 import fp20_value, fp20_word, sum_beats

FUNCTIONS = ["exp32", "recip", "rsqrt"]
EDGES = [
    0x00000000, 0x80000000, 0x00000001, 0x80000001, 0x007FFFFF, 0x00800000, 0x80800000, 0x00800001, 0x3F800000, 0x3F7FFFFF,
    0x3FFFFFFF, 0x40000000, 0x40FFFFFF, 0x7F7FFFFF, 0xFF7FFFFF, 0x7F800000, 0xFF800000, 0x7FC00000, 0xFFFFFFFF, 0x7E7FFFFF,
    0x7E800000, 0xFE800000, 0x7E800001, 0xC2AE0000, 0xC2AE0001, 0xC2ADFFFF, 0x42B00000, 0x42B00001, 0x42AFFFFF, 0x3CB17218,
]  # fmt: skip


def bits_of(v: Value) -> int:
    """binary32 bit pattern; NaN as one pattern."""
    if isinstance(v, str):
        return {"nan": 0x7FC00000, "inf": 0x7F800000, "-inf": 0xFF800000, "-0": 0x80000000}[v]
    return int(np.float32(float(v)).view(np.uint32))


def same(name: str, patterns: list[int]) -> None:
    x = np.array(patterns, np.uint32).view(np.float32)
    with np.errstate(all="ignore"):
        got = getattr(functions, name)(x)
    assert got.dtype == np.float32
    found = np.where(np.isnan(got), np.uint32(0x7FC00000), got.view(np.uint32)).tolist()
    want = [bits_of(getattr(exact, name)(decode(p, 8, 23))) for p in patterns]
    wrong = [(hex(p), hex(w), hex(f)) for p, w, f in zip(patterns, want, found, strict=True) if w != f]
    assert not wrong, wrong[:5]


@pytest.mark.parametrize("name", FUNCTIONS)
def test_every_bit_on_edges_and_random_patterns(name: str) -> None:
    rng = random.Random(name)
    same(name, EDGES)
    same(name, [rng.getrandbits(32) for _ in range(800)])


def test_every_bit_of_exp_where_it_is_used() -> None:
    """Differences of FP16 below zero, and around the borders between table entries."""
    rng = random.Random(3)
    values = [-rng.uniform(0, 88) for _ in range(600)] + [-(2.0 ** -rng.uniform(0, 30)) for _ in range(100)]
    borders = [float(exact.ln2()) / 32 * (k + 0.5) for k in range(-120, 120, 7)]
    same("exp32", [int(np.float32(v).view(np.uint32)) for v in values + borders])


@pytest.mark.parametrize("name", ["recip", "rsqrt"])
def test_every_bit_around_table_intervals(name: str) -> None:
    mantissas = [(i << 17) + d & 0x7FFFFF for i in range(64) for d in (-1, 0, 1)]
    exponents = [1, 126, 127, 128, 129]
    same(name, [exponents[n % 5] << 23 | m for n, m in enumerate(mantissas)])


def ulps(got: np.ndarray, true: np.ndarray) -> float:
    """The largest error in units in the last place of the true value's binade."""
    unit = np.exp2(np.floor(np.log2(np.abs(true))) - 23)
    return float((np.abs(got.astype(np.float64) - true) / unit).max())


def test_errors_over_the_whole_domain() -> None:
    """The figures of docs/arithmetic.md. Every mantissa of recip and rsqrt (their errors do not depend on the exponent
    but for its lowest bit); exp32 at two million points. binary64 is the true function here, itself checked below."""
    one = np.arange(0x3F800000, 0x40000000, dtype=np.uint32).view(np.float32)
    assert 1.4 < ulps(functions.recip(one), 1 / one.astype(np.float64)) < 1.52
    two = one * np.float32(2)
    worst = max(ulps(functions.rsqrt(x), 1 / np.sqrt(x.astype(np.float64))) for x in (one, two))
    assert 0.9 < worst < 1.01
    rng = np.random.default_rng(5)
    x = np.concatenate([rng.uniform(-87, 0, 1 << 20), rng.uniform(0, 88, 1 << 19), -np.exp2(-rng.uniform(-6, 24, 1 << 19))])
    x = x.astype(np.float32)
    assert 0.9 < ulps(functions.exp32(x), np.exp(x.astype(np.float64))) < 1.01


def test_errors_against_mpmath() -> None:
    rng = np.random.default_rng(6)
    with mpmath.workprec(120):
        for name, x, true in (
            ("exp32", rng.uniform(-87, 88, 2000), mpmath.exp),
            ("recip", np.exp2(rng.uniform(-120, 120, 2000)), lambda v: 1 / v),
            ("rsqrt", np.exp2(rng.uniform(-125, 127, 2000)), lambda v: 1 / mpmath.sqrt(v)),
        ):
            x32 = x.astype(np.float32)
            worst = mpmath.mpf(0)
            for v, y in zip(x32.tolist(), getattr(functions, name)(x32).tolist(), strict=True):
                t = true(mpmath.mpf(v))
                worst = max(worst, abs(mpmath.mpf(y) - t) / mpmath.mpf(2) ** (mpmath.floor(mpmath.log(t, 2)) - 23))
            assert worst < {"exp32": 1.01, "recip": 1.52, "rsqrt": 1.01}[name], name


def test_tables() -> None:
    """Some entries by hand, and all of exp's against mpmath."""
    with mpmath.workprec(200):
        assert functions.EXP_TABLE.tolist() == [float(np.float32(float(mpmath.mpf(2) ** (mpmath.mpf(j) / 32)))) for j in range(32)]
        hi = mpmath.nint(mpmath.log(2) / 32 * 2**17) / 2**17
        assert float(functions.LN2_HI) == float(hi)
        assert float(functions.LN2_LO) == float(np.float32(float(mpmath.log(2) / 32 - hi)))
    assert float(functions.STEPS_PER_E) == float(np.float32(46.166241308446828))
    assert float(functions.SIXTH) == float(np.float32(1 / 6))
    assert functions.RECIP_TABLE[0] == 4064 / 4096  # 4096 * 128 / 129 = 4064.2
    assert functions.RECIP_TABLE[63] == 2056 / 4096  # 4096 * 128 / 255 = 2056.03
    assert functions.RSQRT_TABLE[0, 0] == 4080 / 4096  # 4096 / sqrt(129 / 128) = 4080.09
    assert functions.RSQRT_TABLE[1, 63] == 2052 / 4096  # 4096 / sqrt(255 / 64) = 2052.01


def test_recip_never_leaves_the_normal_numbers() -> None:
    """The power of two is exact because y stays at or above 1/2 for every mantissa."""
    one = np.arange(0x3F800000, 0x40000000, dtype=np.uint32).view(np.float32)
    y = functions.recip(one)
    assert y.min() >= 0.5
    assert y.max() == 1
    assert (np.diff(y) <= 0).mean() > 0.9


@pytest.mark.parametrize(
    ("word", "bits"),
    [
        (0, 0x00000000),
        (0x80000, 0x80000000),
        (0x1FFF, 0x00000000),  # exponent 0 is zero, whatever the mantissa
        (31 << 13, 0x3F800000),
        (1 << 19 | 31 << 13 | 0x1000, 0xBFC00000),
        (1 << 13, 0x30800000),
        (63 << 13 | 0x1FFF, 0x4FFFFC00),
    ],
)
def test_fp20(word: int, bits: int) -> None:
    assert int(fp20_value(word).view(np.uint32)) == bits


def test_fp20_of_every_size() -> None:
    """Nearest, ties to even, and back."""
    for n in [*range(1, 300), 2047, 4096, 8191, 13696, 16384]:
        word = fp20_word(Fraction(1, n))
        error = abs(exact.finite(exact.fp20(word)) - Fraction(1, n))
        for other in (word - 1, word + 1):
            assert error <= abs(exact.finite(exact.fp20(other)) - Fraction(1, n))
    assert fp20_word(1 + Fraction(1, 1 << 14)) == 31 << 13
    assert fp20_word(1 + Fraction(3, 1 << 14)) == (31 << 13) + 2
    assert fp20_word(2 - Fraction(1, 1 << 14)) == 32 << 13
    assert fp20_word(Fraction(-1, 4)) == 1 << 19 | 29 << 13
    assert fp20_word(0) == 0
    assert fp20_word(Fraction(1, 1 << 40)) == 0
    with pytest.raises(DeviceError):
        fp20_word(1 << 33)


def random32(rng: random.Random) -> int:
    return rng.getrandbits(1) << 31 | rng.randint(120, 134) << 23 | rng.getrandbits(23)


def test_sums_against_rationals() -> None:
    rng = random.Random(9)
    for beats in (1, 2, 5):
        patterns = [random32(rng) for _ in range(32 * beats)]
        v = np.array(patterns, np.uint32).view(np.float32).reshape(beats, 1, 32)
        want = exact.total([decode(p, 8, 23) for p in patterns])
        assert int(sum_beats(v)[0].view(np.uint32)) == bits_of(want)


def test_the_order_of_a_tree_counts() -> None:
    """2^24 + 1 + 1 pairs (0, 1), (2, 3): ones that meet first survive, one that meets 2^24 is lost."""
    v = np.zeros((1, 32), np.float32)
    v[0, [0, 2, 3]] = (1 << 24, 1, 1)
    assert sum_beats(v[None])[0] == (1 << 24) + 2
    v[0] = 0
    v[0, [0, 1, 2]] = (1 << 24, 1, 1)
    assert sum_beats(v[None])[0] == 1 << 24
