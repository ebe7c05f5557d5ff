"""Softmax's functions, norm's sums and factors and FP16 products of the SFU, many arguments each, against other arithmetic."""

from __future__ import annotations

import shutil
import subprocess
from fractions import Fraction
from pathlib import Path

import numpy as np
import pytest
import sfu_reference as ref
from hardware_files import listed
from numpy.typing import NDArray
from verilated import verilated

from fleet.sets.hbm0923 import rtl_tables

HERE = Path(__file__).parent
FILES = [
    "arith/fp_pkg.sv",
    "arith/fp_fn_pkg.sv",
    "generated/hbm0923_tables_pkg.sv",
    "hbm0923/hbm0923_sfu_softmax_pkg.sv",
    "hbm0923/hbm0923_sfu_norm_pkg.sv",
    "hbm0923/hbm0923_sfu_exp.sv",
    "hbm0923/hbm0923_sfu_moments.sv",
    "hbm0923/hbm0923_sfu_root.sv",
    "hbm0923/hbm0923_sfu_recip.sv",
    "hbm0923/hbm0923_sfu_scale.sv",
]
U32 = NDArray[np.uint32]


class Probe:
    """The built bench."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        names = ["sfu_fn_probe.sv", "sfu_fn_main.cpp"]
        for path in [listed("hbm0923", f) for f in FILES] + [HERE / n for n in names]:
            shutil.copy(path, folder / path.name)
        arguments = ["-O3", "-Wall", "-Wno-UNUSEDPARAM", "--x-initial", "unique", "--top-module", "sfu_fn_probe"]
        verilated([*arguments, *(Path(f).name for f in FILES), *names], folder, "Vsfu_fn_probe")

    def __call__(self, kind: str, words: U32, beats: int = 1, norm: tuple[bool, int, int] = (False, 1, 0), seed: int = 5) -> U32:
        """What comes out of pipeline `kind` for these arguments. norm: whether the mean is subtracted, channels, bits of eps."""
        words.astype("<u4").tofile(self.folder / "in.bin")
        command = [self.folder / "obj" / "Vsfu_fn_probe", kind, "in.bin", "out.bin"]
        command += [str(int(n)) for n in (seed, beats, *norm)]
        subprocess.run(command, cwd=self.folder, check=True)
        return np.fromfile(self.folder / "out.bin", "<u4")


@pytest.fixture(scope="module")
def probe(tmp_path_factory: pytest.TempPathFactory) -> Probe:
    return Probe(tmp_path_factory.mktemp("sfu_functions"))


def equal(got: U32, expected: ref.F32, arguments: U32) -> None:
    bits = ref.canonical32(expected)
    assert got.shape == bits.shape
    wrong = np.flatnonzero(got != bits)
    assert not wrong.size, [(hex(arguments[i]), hex(got[i]), hex(bits[i])) for i in wrong[:5]] + [wrong.size]


def test_the_tables_are_those_of_the_reference() -> None:
    tables = {name: np.array(values, np.uint32) for name, (_, values) in rtl_tables.tables().items()}
    for name, columns in (("Exp", ref.EXP), ("Recip", ref.RECIP), ("Rsqrt", ref.RSQRT)):
        for letter, column in zip("ABC", columns, strict=True):
            np.testing.assert_array_equal(tables[name + letter], column.astype(np.uint32))


def test_hardware_is_built_with_these_tables() -> None:
    assert listed("hbm0923", "generated/hbm0923_tables_pkg.sv").read_text() == rtl_tables.package_text()


def test_the_reference_rounds_once() -> None:
    """NumPy's binary32 sum and product against exact rationals."""
    random = np.random.default_rng(11)
    a = random.integers(0, 1 << 32, 4000, np.uint32)
    b = np.where(
        np.arange(4000) % 2,
        random.integers(0, 1 << 32, 4000, np.uint32),
        a ^ 0x80000000 ^ random.integers(0, 1 << 24, 4000, np.uint32),
    )
    finite = ((a >> 23 & 255) != 255) & ((b >> 23 & 255) != 255)
    a, b = a[finite], b[finite].astype(np.uint32)
    with np.errstate(all="ignore"):
        added, multiplied = (a.view(np.float32) + b.view(np.float32)), (a.view(np.float32) * b.view(np.float32))
    for x, y, s, p in zip(a.tolist(), b.tolist(), added.view(np.uint32).tolist(), multiplied.view(np.uint32).tolist(), strict=True):
        fx, fy = ref.fraction_of(x), ref.fraction_of(y)
        assert ref.rne32(fx + fy) == s or fx + fy == 0
        assert ref.rne32(fx * fy) | (x ^ y) & 0x80000000 == p


def test_exp(probe: Probe) -> None:
    """x below the largest of its row: of any size, near it, and with every exponent of both."""
    random = np.random.default_rng(1)
    x = random.uniform(-20, 20, 500_000).astype(np.float16)
    near = (x[:300_000].astype(np.float32) + np.exp2(random.uniform(-24, 5, 300_000))).astype(np.float16)
    patterns = (random.integers(0, 0x7C00, (2, 300_000)) | random.integers(0, 2, (2, 300_000)) << 15).astype(np.uint16)
    top = np.array([0x0000, 0x8000, 0x7BFF, 0xFBFF, 0x4C00, 0x0001], np.uint16).view(np.float16)
    edges = np.array(
        np.meshgrid(np.array([0xFC00, 0xFBFF, 0x8000, 0x0000, 0x8001, 0xCC00, 0xCFFF, 0xD000], np.uint16), top.view(np.uint16))
    )
    pairs = np.concatenate(
        [
            np.stack([x, x[::-1]]).view(np.uint16),
            np.stack([x[:300_000], near]).view(np.uint16),
            patterns,
            edges.reshape(2, -1),
        ],
        axis=1,
    )
    values = pairs.view(np.float16)
    pairs = np.where(values[0] <= values[1], pairs, pairs[::-1])
    low, high = pairs.view(np.float16).astype(np.float64)
    m, n = ref.exponential((np.maximum(low - high, -32) * 2**24).astype(np.int64))
    got = probe("exp", pairs[0] | pairs[1].astype(np.uint32) << 16).reshape(-1, 3)
    assert len(got) > 1_000_000
    np.testing.assert_array_equal(got[:, 0], (m - 2**25) << 5 | np.minimum(n, 31))
    np.testing.assert_array_equal(got[:, 1] | got[:, 2].astype(np.int64) << 32, m * 2**11 // 2**n)
    # Against the true function, so that the reference itself is held by something else.
    deep = low - high > -25
    assert np.max(np.abs(m * 2.0 ** -(25 + n) / np.exp(np.maximum(low - high, -30)) - 1)[deep]) < 1.36 * 2**-25


@pytest.mark.parametrize("beats", [1, 2, 9])
def test_recip(probe: Probe, beats: int) -> None:
    """Sums of terms up to 1 (2^36), of lanes that count, and their reciprocals."""
    random = np.random.default_rng(beats)
    terms = random.integers(0, 1 << 36, (1000, beats, 32)) >> random.integers(0, 37, (1000, beats, 32))
    terms[random.random((1000, 1, 1)) * np.ones((1, beats, 32)) < 0.1] = 1 << 36
    counts = random.random(terms.shape) < 0.9
    terms[:, 0, 0], counts[:, 0, 0] = 1 << 36, True
    got = probe("recip", np.concatenate([terms & 0xFFFFFFFF, terms >> 32 | ~counts << 31], axis=2).astype(np.uint32).ravel(), beats)
    total = np.where(counts, terms, 0).sum(axis=(1, 2))
    r, k = ref.reciprocal(total)
    np.testing.assert_array_equal(got, (r - 2**28) << 4 | k)
    assert np.max(np.abs(r * 2.0**-29 / 2.0**k * total / 2.0**36 - 1)) < 1.42 * 2**-27


def test_recip_of_every_size(probe: Probe) -> None:
    """Powers of two, from the smallest sum to the largest of 1,024 beats, and one beside them."""
    for beats in (1, 64, 1024):
        terms = np.full((4, beats, 32), 1 << 36)
        terms[1, -1, -1] = 0
        terms[2, 1:], terms[2, 0, 1:] = 0, 0
        terms[3, :, 16:] = 0
        got = probe("recip", np.concatenate([terms & 0xFFFFFFFF, terms >> 32], axis=2).astype(np.uint32).ravel(), beats)
        r, k = ref.reciprocal(terms.sum(axis=(1, 2)))
        np.testing.assert_array_equal(got, (r - 2**28) << 4 | k)


def test_scale(probe: Probe) -> None:
    """Products rounded to FP16: of any digits and sizes, and ties."""
    random = np.random.default_rng(4)
    beats = 32_000
    m = random.integers(1 << 25, 1 << 26, (beats, 32))
    r = random.integers(1 << 28, 1 << 29, beats)
    # Few digits in both: products that lie between two numbers of FP16, or on one.
    few = random.random(beats) < 0.5
    m[few] = m[few] >> 18 << 18
    r[few] = r[few] >> 22 << 22
    n, k = random.integers(0, 32, (beats, 32)), random.integers(0, 16, beats)
    lanes = np.where(random.random(beats) < 0.1, random.integers(0, 33, beats), 32)
    odd = random.random(beats) < 0.02
    words = np.concatenate([(m - 2**25) << 5 | n, (r - 2**28)[:, None] << 4 | k[:, None], (lanes | odd << 6)[:, None]], axis=1)
    got = probe("scale", words.astype(np.uint32).ravel()).view(np.uint16).reshape(beats, 32)
    y = ref.scaled(m.ravel(), np.repeat(r, 32), (n + k[:, None]).ravel()).reshape(beats, 32)
    y[odd] = 0x7E00
    y[np.arange(32) >= lanes[:, None]] = 0
    np.testing.assert_array_equal(got, y)
    # The reference against exact rationals.
    for i in range(0, beats * 32, 2003):
        exact = Fraction(int(m.flat[i]) * int(r[i // 32])) / 2 ** (54 + int(n.flat[i]) + int(k[i // 32]))
        found = ref.scaled(m.ravel()[i : i + 1], r[i // 32 : i // 32 + 1], n.ravel()[i : i + 1] + k[i // 32])
        value = Fraction(float(found.view(np.float16)[0]))
        around = (int(found[0]) + d for d in (-1, 1) if int(found[0]) + d >= 0)
        assert all(abs(value - exact) <= abs(Fraction(float(np.uint16(b).view(np.float16))) - exact) for b in around)


EPS = [0.0, 1e-5, 65535.99, 2.0**-60, 2.0**-100, -0.0]
NO_EPS = [65536.0, -1e-5, np.inf, np.nan]


def _rows(random: np.random.Generator, rows: int, channels: int) -> NDArray[np.uint16]:
    """Bits: any finite ones, of one size, nearly equal ones, the largest with both signs, zeros; some rows are not finite."""
    x = random.integers(0, 0x7C00, (rows, channels)) | random.integers(0, 2, (rows, channels)) << 15
    x[1::6] = 0x3C00 + random.integers(0, 1 << 11, x[1::6].shape)
    x[2::6] = random.integers(1, 0x7BF0, x[2::6].shape[:1])[:, None] + random.integers(0, 3, x[2::6].shape)
    x[3::6] = 0x7BFF | random.integers(0, 2, x[3::6].shape) << 15
    x[4::12] = 0x7BFF
    x[5::12] = random.integers(0, 2, x[5::12].shape) << 15
    odd = random.random(rows) < 0.05
    x[odd, random.integers(0, channels)] = random.choice([0x7C00, 0xFC00, 0x7E01, 0xFFFF])
    return x.astype(np.uint16)


@pytest.mark.parametrize("layer", [False, True])
@pytest.mark.parametrize(("channels", "rows"), [(1, 300), (32, 600), (45, 300), (300, 60), (2048, 24), (65536, 6)])
def test_norm_sums_and_factors(probe: Probe, layer: bool, channels: int, rows: int) -> None:
    random = np.random.default_rng(channels)
    beats = -(-channels // 32)
    for number, eps in enumerate(np.array(EPS + NO_EPS, np.float32)[: 10 if channels < 2048 else 3]):
        x = _rows(random, rows, channels)
        # What does not count is anything at all.
        lanes = random.integers(0, 1 << 16, (rows, beats * 32)).astype(np.uint16)
        lanes[:, :channels] = x
        mask = np.minimum(channels - 32 * np.arange(beats), 32)
        words = np.zeros((rows, beats, 17), np.uint32)
        words[..., :16] = lanes.reshape(rows, beats, 32).view(np.uint32)
        words[..., 16] = ((np.uint64(1) << mask.astype(np.uint64)) - np.uint64(1)).astype(np.uint32)
        got = probe("norm", words.ravel(), beats, (layer, channels, int(eps.view(np.uint32))), seed=number).reshape(rows, 3)
        for row, factor, low, high in zip(x, *got.T.tolist(), strict=True):
            v = row.view(np.float16).astype(np.float64)
            if not np.isfinite(v).all():
                assert factor == 0x7FC00000
                continue
            units = [int(u) for u in v * 2.0**24]
            assert factor == int(ref.canonical32(np.array([ref.factor(units, channels, eps, layer)]))[0])
            if layer:
                assert (high << 32 | low) == sum(units) % 2**64


def test_fp16_products_and_keys(probe: Probe) -> None:
    random = np.random.default_rng(3)
    every = np.arange(65536, dtype=np.uint32)
    corners = np.array([0x0000, 0x0001, 0x03FF, 0x0400, 0x3C00, 0x7BFF, 0x7C00, 0x7C01, 0x7E00], np.uint32)
    corners = np.concatenate([corners, corners | 0x8000])
    pairs = (corners[:, None] | corners << 16).reshape(-1)
    words = np.concatenate(
        [every | every << 16, every | random.permutation(every) << 16, random.integers(0, 1 << 32, 300_000, np.uint32), pairs]
    )
    words = words.astype(np.uint32)
    got = probe("fp16", words).reshape(-1, 4)
    a, b = (np.array(h, np.uint16).view(np.float16).astype(np.float32) for h in (words & 0xFFFF, words >> 16))
    with np.errstate(all="ignore"):
        equal(got[:, 0].copy(), a * b, words)
    assert [int(np.float32(ref.fp20(int(w & 0xFFFFF))).view(np.uint32)) for w in words[::97]] == got[::97, 1].tolist()
    key, back = got[:65536, 3].view(np.int32), got[:65536, 2]
    nan = np.isnan(a[:65536])
    assert (back[~nan] == np.where(every[~nan] == 0x8000, 0, every[~nan])).all()
    assert ((back[nan] & 0x7C00) == 0x7C00).all()
    order = np.argsort(a[:65536][~nan], kind="stable")
    assert ((np.diff(key[~nan][order]) > 0) == (np.diff(a[:65536][~nan][order]) > 0)).all()
    assert key[nan].min() > key[~nan].max()
