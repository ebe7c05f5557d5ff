"""The sum over groups is exact and rounded once: where binary64 alone would not do."""

from __future__ import annotations

import random
from fractions import Fraction

import mvm_exact as exact
import numpy as np
import pytest
import test_mvm as mvm
from hypothesis import given, settings
from hypothesis import strategies as st

from fleet.sdk import Device, native
from fleet.sets.hbm0923 import product as routes
from fleet.sets.hbm0923.mvm_operands import MvmFields, channel_bytes
from fleet.sets.hbm0923.numerics import mvm as arithmetic
from fleet.sets.hbm0923.numerics.mvm import MvmWeights, accumulate, exact_sums

FINITE = [bits for bits in range(1 << 16) if bits & 0x7C00 != 0x7C00]
SUBNORMAL = [1, 2, 0x3FF, 0x8001, 0x83FF]
TBLK = 32


def rounded(sums: list[int], scales: list[int]) -> float:
    """sums: in units of 2^-24; scales: bit patterns."""
    v = exact.sum_of_groups([Fraction(s, 1 << 24) for s in sums], [exact.half(b) for b in scales])
    return float(exact.finite(v))


def near_a_tie(rng: random.Random, groups: int) -> tuple[list[int], list[int]]:
    """A number of 24 bits and a half, more or less by nothing or by the smallest step, amid pairs that cancel."""
    sums, scales = [(rng.getrandbits(24) << 1 | 1) << rng.randrange(25)], [rng.randrange(1, 31) << 10]
    sums.append(rng.choice([-1, 0, 1]))
    scales.append(1)
    while len(sums) + 2 <= groups:
        s, scale = rng.randrange(1 << 50), rng.choice(FINITE)
        sums += [s, -s]
        scales += [scale, scale]
    order = rng.sample(range(len(sums)), len(sums))
    sign = rng.choice([-1, 1])
    return [sign * sums[i] for i in order], [scales[i] for i in order]


def of_kind(rng: random.Random, kind: str, groups: int) -> tuple[list[int], list[int]]:
    if kind == "tie":
        return near_a_tie(rng, groups)
    if kind == "largest":
        sign = rng.choice([-1, 1])
        return [sign * (128 * 7 * 65504 << 24) for _ in range(groups)], [0x7BFF] * groups
    bits = 50 if kind == "any" else rng.randrange(1, 51)
    patterns = SUBNORMAL if kind == "subnormal" else FINITE
    return [rng.randrange(-(1 << bits) + 1, 1 << bits) for _ in range(groups)], [rng.choice(patterns) for _ in range(groups)]


@settings(max_examples=300, deadline=None)
@given(st.sampled_from(["tie", "any", "short", "subnormal", "largest"]), st.integers(2, 12), st.randoms(use_true_random=False))
def test_exact_sums(kind: str, groups: int, rng: random.Random) -> None:
    sums, scales = of_kind(rng, kind, groups)
    got = exact_sums(np.array(sums)[:, None] * 2.0**-24, np.array(scales, np.uint16).view(np.float16).astype(np.float64)[:, None])
    assert got[0] == rounded(sums, scales)
    assert not (got[0] == 0 and np.signbit(got[0]))


@pytest.mark.parametrize("kind", ["tie", "any", "largest"])
def test_most_groups(kind: str) -> None:
    """131,072 inputs in groups of 32: what the words must hold."""
    sums, scales = of_kind(random.Random(7), kind, 4096)
    got = exact_sums(np.array(sums)[:, None] * 2.0**-24, np.array(scales, np.uint16).view(np.float16).astype(np.float64)[:, None])
    assert got[0] == rounded(sums, scales)


def lanes_of(units: int) -> tuple[list[int], list[int]]:
    """FP16 patterns and codes of 32 lanes that add up to so many units of 2^-24, below 2^42 in magnitude."""
    x, codes, magnitude = [0] * TBLK, [0] * TBLK, abs(units)
    for lane in range(4):
        part = magnitude >> 11 * lane & 0x7FF
        value = np.float64(part * 2.0 ** (11 * lane - 24))
        assert float(value.astype(np.float16)) == value
        x[lane], codes[lane] = int(value.astype(np.float16).view(np.uint16)), 9 if units < 0 else 1
    return x, codes


def instruction(rng: random.Random, groups: int, channels: int) -> mvm.Problem:
    """One token; each channel has scales of its own, and in one of them the sum lies at a tie."""
    sums, tie = near_a_tie(rng, groups)
    lanes = [lanes_of(s if abs(s) < 1 << 39 else (1 if s > 0 else -1) * (abs(s) >> 11)) for s in sums]
    x, codes = ([v for pair in lanes for v in pair[n]] for n in (0, 1))
    scales = [tie, *([s ^ rng.choice([0, 0, 1, 2]) for s in tie] for _ in range(channels - 1))]
    return mvm.Problem([x], [codes] * channels, scales, TBLK)


def check_binary32(device: Device, p: mvm.Problem, *, pads: int = 0) -> None:
    """The product of an instruction before FP16 hides its last bits. pads: bytes behind each channel's scales."""
    _, _, _, memory, fields = mvm.run(device, p)
    size, ports = channel_bytes(device, len(p.x[0]), p.tblk), device.parameters["HbmPorts"]
    for c, scales in enumerate(p.scales):
        memory.view("hbm", 0x40 + c // ports * size + 2 * len(scales), 32 - 2 * len(scales), c % ports)[:] = pads
    got = routes.product(device, MvmFields.decode(device, fields), memory)
    starts = range(0, len(p.x[0]), p.tblk)
    for c, (codes, scales) in enumerate(zip(p.codes, p.scales, strict=True)):
        for t, x in enumerate(p.x):
            sums = [exact.group_sum([exact.half(b) for b in x[i : i + p.tblk]], codes[i : i + p.tblk]) for i in starts]
            want = exact.sum_of_groups(sums, [exact.half(b) for b in scales])
            assert Fraction(float(got[c, t])) == exact.finite(want), (c, t)


@pytest.mark.parametrize("seed", range(12))
def test_instructions_near_ties(device: Device, seed: int) -> None:
    rng = random.Random(seed)
    check_binary32(device, instruction(rng, rng.choice([2, 4, 9]), 5))


def test_noise_behind_the_scales_hides_no_error(device: Device) -> None:
    """NaN there is of no group."""
    for seed in range(20):
        check_binary32(device, instruction(random.Random(seed), 6, 5), pads=0xFF)


@pytest.mark.parametrize("variant", [*native.VARIANTS, "numpy"])
def test_what_binary64_leaves_open_is_decided(variant: str, monkeypatch: pytest.MonkeyPatch, device: Device) -> None:
    """Compiled and in NumPy: sums are computed again, and only those which binary64 cannot decide."""
    if variant != "numpy" and variant not in native.variants():
        pytest.skip(f"this machine does not run {variant}")
    monkeypatch.setenv(native.VARIABLE, variant)
    again: list[int] = []

    def counted(x: arithmetic.F64, weights: MvmWeights) -> arithmetic.F32:
        again.append(x.shape[2])
        return exact_pairs(x, weights)

    exact_pairs = arithmetic.exact_pairs
    for module in (arithmetic, routes):
        monkeypatch.setattr(module, "exact_pairs", counted)
    for seed in range(20):
        check_binary32(device, instruction(random.Random(seed), 6, 5))
    assert 8 <= sum(again) <= 100
    again.clear()
    for kind in ("normal", "wide"):
        check_binary32(device, mvm.random_problem(3, 4, 300, 19, TBLK, kind))
    assert sum(again) <= 1


@pytest.mark.parametrize("order", range(4))
def test_order_of_groups_is_not_seen(order: int) -> None:
    """Groups in another order: the same bits, also where each sum in binary32 and in binary64 loses some."""
    rng = np.random.default_rng(5)
    x = rng.choice(np.array(FINITE, np.uint16), (40, TBLK, 3)).view(np.float16).astype(np.float64)
    codes = rng.integers(-7, 8, (40, 6, TBLK)).astype(np.float64)
    scales = rng.choice(np.array(FINITE, np.uint16), (40, 6, 1)).view(np.float16).astype(np.float64)
    turned = np.random.default_rng(order).permutation(40)
    want = accumulate(x, MvmWeights(codes, scales), finite=True)
    got = accumulate(x[turned], MvmWeights(codes[turned], scales[turned]), finite=True)
    assert np.array_equal(got.view(np.uint32), want.view(np.uint32))


def test_blocks_of_pairs(monkeypatch: pytest.MonkeyPatch) -> None:
    """More undecided sums than are computed at a time."""
    rng = np.random.default_rng(6)
    half = rng.choice(np.array(FINITE, np.uint16), (3, TBLK, 50)).view(np.float16).astype(np.float64)
    x = np.concatenate([half, -half])
    codes, scales = (np.concatenate([v, v]) for v in (rng.integers(1, 8, (3, 7, TBLK)).astype(np.float64), np.ones((3, 7, 1))))
    scales[0] *= 1 + 2.0**-10
    want = exact_sums(np.matmul(codes, x).reshape(6, -1), np.broadcast_to(scales, (6, 7, 50)).reshape(6, -1)).reshape(7, 50)
    with monkeypatch.context() as patch:
        patch.setattr(arithmetic, "_PAIRS", 9)
        got = accumulate(x, MvmWeights(codes, scales), finite=True)
    assert np.array_equal(got.view(np.uint32), want.view(np.uint32))
