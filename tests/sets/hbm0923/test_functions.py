"""Functions of softmax and norm, and FP20: to the bit against exact rationals, and their errors against the true functions."""

from __future__ import annotations

import random
from fractions import Fraction

import mpmath
import numpy as np
import pytest
import unit_exact as exact

from fleet.errors import DeviceError
from fleet.sets.hbm0923.conformance.streaming import TIES
from fleet.sets.hbm0923.numerics import parabolas
from fleet.sets.hbm0923.numerics.float32 import fp20_value, fp20_word
from fleet.sets.hbm0923.numerics.norm import Moments, factors, moments, normalise, root, scaled_eps
from fleet.sets.hbm0923.numerics.softmax import exponential, reciprocal, softmax

# ---- softmax


def test_parabolas_are_those_of_the_rationals() -> None:
    functions = exact.exp_parabola, exact.recip_parabola, exact.rsqrt_parabola
    for found, of in zip((parabolas.EXP, parabolas.RECIP, parabolas.RSQRT), functions, strict=True):
        columns = zip(found.a.tolist(), found.b.tolist(), found.c.tolist(), strict=True)
        assert [of(i) for i in range(found.a.size)] == list(columns)


def test_parabolas_meet_their_functions_where_they_say() -> None:
    """In the middle of an interval and 7/8 of the way to its ends, within two units of the result."""
    h = np.array([-114_688, 0, 114_688])
    with mpmath.workprec(200):
        for i in range(0, 128, 9):
            want = [mpmath.mpf(2) ** (25 + (i + mpmath.mpf(n) / 16) / 128) for n in (1, 8, 15)]
            assert max(abs(int(y) - t) for y, t in zip(parabolas.EXP(np.full(3, i), h), want, strict=True)) < 2
        for i in range(0, 256, 17):
            want = [mpmath.mpf(2) ** 29 / (1 + (i + mpmath.mpf(n) / 16) / 256) for n in (1, 8, 15)]
            assert max(abs(int(y) - t) for y, t in zip(parabolas.RECIP(np.full(3, i), h), want, strict=True)) < 6
        for i in range(0, 512, 17):
            w = [2 ** (i // 256) * (1 + (i % 256 + mpmath.mpf(n) / 16) / 256) for n in (1, 8, 15)]
            got = zip(parabolas.RSQRT(np.full(3, i), h), w, strict=True)
            assert max(abs(int(y) - mpmath.mpf(2) ** 29 / mpmath.sqrt(v)) for y, v in got) < 4


def _around(intervals: int, reach: int) -> np.ndarray:
    """Arguments of a table around the ends of its intervals."""
    ends = (np.arange(intervals + 1) << 18)[:, None] + np.arange(-reach, reach)
    return ends[(ends >= 0) & (ends < intervals << 18)]


def test_exponential_and_reciprocal_to_the_bit() -> None:
    rng = random.Random(3)
    z = [0, -1, -2, -(1 << 26), -(1 << 29), 1 - (1 << 29), *(-rng.getrandbits(b) for b in range(30) for _ in range(20))]
    # u steps over an interval's end between one z and the next.
    z += [int(-e * 2 / 0x17154765 * (1 << 25)) + d for e in range(1 << 17, 45 << 25, 9 << 20) for d in (-1, 0, 1)]
    m, n = exponential(np.array(z, np.int64))
    assert [exact.exponential(v) for v in z] == list(zip(m.tolist(), n.tolist(), strict=True))
    sums = [1 << 36, (1 << 52) - 1, *((1 << 36 + b) + d for b in range(1, 15) for d in (-1, 0, 1))]
    sums += [rng.randrange(1 << 36, 1 << 36 + rng.randint(1, 15)) for _ in range(800)]
    r, k = reciprocal(np.array(sums, np.int64))
    assert [exact.reciprocal(v) for v in sums] == list(zip(r.tolist(), k.tolist(), strict=True))


def test_errors_of_softmax_functions() -> None:
    """The figures of docs/arithmetic.md. The 64 digits of a long double are the true function here."""
    v = np.concatenate([np.arange(0, 1 << 25, 127), _around(128, 300)])
    m = parabolas.EXP(v >> 18, (v & (1 << 18) - 1) - (1 << 17))
    true = np.exp2(np.longdouble(25) + v / np.longdouble(1 << 25))
    assert 0.6 < float(np.max(np.abs(m / true - 1)) * 2**25) < 0.64
    assert m.min() == 1 << 25
    assert m.max() < 1 << 26
    rng = np.random.default_rng(5)
    for depth, least, most in ((10, 0.9, 1.0), (25, 1.15, 1.24)):
        z = -rng.integers(0, depth << 24, 1 << 20)
        m, n = exponential(z.copy())
        worst = np.max(np.abs(m * np.exp2(-(25 + n).astype(np.longdouble)) / np.exp(z / np.longdouble(1 << 24)) - 1))
        assert least < float(worst * 2**25) < most
    v = np.concatenate([np.arange(0, 1 << 26, 67), _around(256, 30)])
    r = parabolas.RECIP(v >> 18, (v & (1 << 18) - 1) - (1 << 17))
    worst = max(np.max(np.abs(r / (2 / (1 + (v + cut) / np.longdouble(1 << 26))) / (1 << 28) - 1)) for cut in (0, 1))
    assert 1.35 < float(worst * 2**27) < 1.42
    assert r.min() >= 1 << 28
    assert r.max() < 1 << 29


def test_ties_of_the_directed_rows() -> None:
    """M is 2^25 in the first lane: its result is R, whose 18 lowest of 29 digits are rounded away."""
    found: list[tuple[int, int]] = []
    for row in TIES:
        x = np.array(row, np.uint16).view(np.float16).astype(np.float64)
        m, n = exponential((x * 2**24).astype(np.int64))
        r, _ = reciprocal((m << 11 >> n).sum(keepdims=True))
        found.append((int(r[0]) & 0x3FFFF, int(r[0]) >> 18 & 1))
    assert found == [(1 << 17, 0), (1 << 17, 0), (1 << 17, 1)]


def _misrounded(rows: np.ndarray, width: int) -> int:
    """Outputs of softmax that differ from the true value rounded once, in the first `width` lanes; each by one step at most."""
    y = softmax(rows, np.arange(rows.shape[1]) < np.full((len(rows), 1), width))
    assert not y[:, width:].any()
    x = rows[:, :width].astype(np.longdouble)
    e = np.exp(x - x.max(axis=-1, keepdims=True))
    true = e / e.sum(axis=-1, keepdims=True)
    unit = np.exp2(np.maximum(np.floor(np.log2(np.maximum(true, 2.0**-30))), -14) - 10)
    want = (np.rint(true / unit) * unit).astype(np.float64).astype(np.float16).view(np.uint16)
    steps = np.abs(y[:, :width].astype(int) - want)
    assert steps.max() <= 1
    return int(np.count_nonzero(steps))


def test_softmax_is_almost_always_rounded_correctly() -> None:
    """8 of a million outputs are not (docs/arithmetic.md); 66 were, in binary32."""
    rng = np.random.default_rng(1)
    wrong, count = 0, 0
    for deviation in (0.5, 2, 8):
        for width, rows in ((16, 8000), (64, 4000), (512, 500), (2048, 100)):
            x = (rng.standard_normal((rows, -(-width // 32) * 32)) * deviation).astype(np.float16)
            wrong, count = wrong + _misrounded(x, width), count + rows * width
    assert 0 < wrong < 20e-6 * count


# ---- norm


def test_root_to_the_bit() -> None:
    rng = random.Random(4)
    w = [d + (1 << b) for b in range(125) for d in (-1, 0, 1) if d + (1 << b) > 0]
    w += [rng.getrandbits(rng.randint(1, 125)) or 1 for _ in range(1500)]
    # Around the ends of the intervals, in both binades.
    w += [((256 + i << 18) + d) << shift for i in range(0, 256, 5) for shift in (0, 1, 40, 93) for d in (-1, 0, 1)]
    r, k = root(w)
    assert [exact.root(v) for v in w] == list(zip(r.tolist(), k.tolist(), strict=True))


def test_errors_of_the_root() -> None:
    """The figure of docs/arithmetic.md: whatever is cut off behind the 26 digits of w."""
    v = np.concatenate([np.arange(0, 1 << 26, 67), _around(256, 30)])
    for half in (0, 1):
        r = parabolas.RSQRT((v >> 18) + 256 * half, (v & (1 << 18) - 1) - (1 << 17))
        for cut in (0, 1):
            true = np.longdouble(1 << 29) / np.sqrt((1 + (v + cut) / np.longdouble(1 << 26)) * 2**half)
            worst = float(np.max(np.abs(r / true - 1)) * 2**27)
            assert 0.7 < worst < 0.81
        assert r.min() >= 1 << 28
        assert r.max() < 1 << 29


def test_moments_are_exact() -> None:
    """Of rows of all sizes and kinds of numbers, against integers."""
    rng = np.random.default_rng(8)
    for channels in (1, 31, 96, 4097, 16384):
        bits = rng.integers(0, 0x7C00, (6, channels)) | rng.integers(0, 2, (6, channels)) << 15
        bits[1], bits[2], bits[3] = 0x7BFF, 0xFBFF, 1
        bits[4] = np.where(np.arange(channels) % 2, 0x7BFF, 0xFBFE)
        bits[5, channels // 2] = 0xFC00
        x = bits.astype(np.uint16).view(np.float16).astype(np.float64)
        units = [[int(v) for v in row * 2.0**24] for row in x[:5]]
        with np.errstate(invalid="ignore"):
            found = moments(x)
        assert found.first[:5].tolist() == [sum(row) for row in units]
        assert found.square[:5] == [sum(v * v for v in row) for row in units]
        assert found.finite.tolist() == [True] * 5 + [False]


def test_scaled_eps() -> None:
    assert scaled_eps(np.float32(1e-5), 768) == int(Fraction(float(np.float32(1e-5))) * 768**2 * 2**60)
    assert scaled_eps(np.float32(-0.0), 3) == 0
    assert scaled_eps(np.uint32(1).view(np.float32), 65536) == 0
    assert scaled_eps(np.uint32(0x477FFFFF).view(np.float32), 65536) == 65536**2 * 0xFFFFFF << 52
    for bits in (0x47800000, 0x7F800000, 0xFF800000, 0x7FC00000, 0xFFC00000, 0x80000001, 0xB727C5AC):
        assert scaled_eps(np.uint32(bits).view(np.float32), 3) is None


def _factor(first: int, square: int, count: int, eps: int, *, layer: bool) -> float:
    return float(factors(Moments(np.array([first]), [square], np.array([True])), count, eps, layer=layer)[0])


def test_no_factor_leaves_binary32() -> None:
    """The bounds of docs/arithmetic.md: the smallest and largest W, in rows that C <= 2^16 allows."""
    largest = 2047 << 29
    for count in (1, 2, 65535, 65536):
        most = scaled_eps(np.uint32(0x477FFFFF).view(np.float32), count)
        assert most is not None
        w = (count * count * largest**2 << 12) + most
        assert w < 1 << 125
        assert 2.0**-17 < _factor(0, count * largest**2, count, most, layer=False) < 2.0**-15
        assert _factor(0, 1, count, 0, layer=False) <= 2.0**32
        assert _factor(0, count * largest**2, count, most, layer=True) > 2.0**-33
        assert _factor(0, 0, count, 1, layer=True) <= 2.0**30


def _norm_misrounded(x: np.ndarray, *, layer: bool) -> int:
    """Outputs of a norm with gamma 1 and beta 0 that differ from the true value rounded once; each by one step at most."""
    eps = np.float32(1e-6)
    one, zero = np.ones(x.shape[1], np.float32), np.zeros(x.shape[1], np.float32)
    y = normalise(x.astype(np.float32), one, zero, x.shape[1], eps, layer=layer).astype(np.float16).view(np.uint16)
    v = x.astype(np.longdouble)
    d = v - v.mean(axis=-1, keepdims=True) if layer else v
    true = d / np.sqrt((d * d).mean(axis=-1, keepdims=True) + np.longdouble(eps))
    unit = np.exp2(np.maximum(np.floor(np.log2(np.maximum(np.abs(true), 2.0**-30))), -14) - 10)
    want = (np.rint(true / unit) * unit).astype(np.float64).astype(np.float16).view(np.uint16)
    steps = np.abs((y & 0x7FFF).astype(int) - (want & 0x7FFF))
    assert steps.max() <= 1
    return int(np.count_nonzero(steps))


def test_norms_are_almost_always_rounded_correctly() -> None:
    """Some of a million outputs are not (docs/arithmetic.md), whether 1 / C is an FP20 or not."""
    rng = np.random.default_rng(2)
    for layer, most in ((False, 60e-6), (True, 200e-6)):
        wrong, count = 0, 0
        for channels, rows in ((64, 4000), (576, 500), (768, 400), (4096, 80)):
            x = (rng.standard_normal((rows, channels)) * rng.choice([0.01, 1, 30], (rows, 1)) + layer).astype(np.float16)
            wrong, count = wrong + _norm_misrounded(x, layer=layer), count + x.size
        assert 0 < wrong < most * count


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
