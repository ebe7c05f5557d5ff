"""exp, recip, rsqrt, the adder tree and FP16 products of the SFU, a million arguments each, against independent arithmetic."""

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
    "hbm0923/hbm0923_sfu_tree.sv",
    "hbm0923/hbm0923_sfu_exp.sv",
    "hbm0923/hbm0923_sfu_root.sv",
]
U32 = NDArray[np.uint32]


class Probe:
    """The built bench."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        names = ["sfu_fn_probe.sv", "sfu_fn_main.cpp"]
        for path in [listed("hbm0923", f) for f in FILES] + [HERE / n for n in names]:
            shutil.copy(path, folder / path.name)
        arguments = ["-O3", "-Wall", "--x-initial", "unique", "--top-module", "sfu_fn_probe"]
        verilated([*arguments, *(Path(f).name for f in FILES), *names], folder, "Vsfu_fn_probe")

    def __call__(self, kind: str, words: U32, beats: int = 1, seed: int = 5) -> U32:
        """What comes out of pipeline `kind` for these arguments."""
        words.astype("<u4").tofile(self.folder / "in.bin")
        command = [self.folder / "obj" / "Vsfu_fn_probe", kind, "in.bin", "out.bin", str(seed), str(beats)]
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


SPECIAL = np.array(
    [0, 1, 0x7FFFFF, 0x800000, 0x800001, 0x3F800000, 0x3F7FFFFF, 0x7F7FFFFF, 0x7F800000, 0x7F800001, 0x7FC00000, 0x7EFFFFFF,
     0x7E7FFFFF, 0x7E800000, 0x42AE0000, 0x42AE0001, 0x42ADFFFF, 0x42B00000, 0x42B00001, 0x7F000000, 0x3F000000, 0x40000000],
    np.uint32,
)  # fmt: skip
SPECIAL = np.concatenate([SPECIAL, SPECIAL | 0x80000000])


def test_the_tables_are_those_of_the_reference() -> None:
    tables = {name: np.array(values, np.uint32).view(np.float32) for name, (_, values) in rtl_tables.tables().items()}
    np.testing.assert_array_equal(tables["ExpTable"], ref.EXP_T)
    np.testing.assert_array_equal(tables["RecipTable"], ref.RECIP_Y)
    np.testing.assert_array_equal(tables["RsqrtTable"], ref.RSQRT_Z.ravel())
    assert (tables["ExpLn2High"][0], tables["ExpLn2Low"][0]) == (ref.HI, ref.LO)
    assert rtl_tables.tables()["ExpPerLn2"][1] == [0x4238AA3B]


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


def exact_exp(bits: int) -> int:
    """exp32 of a number in [-87, 88], every step an exact rational rounded once."""

    def add(a: int, b: int) -> int:
        return ref.rne32(ref.fraction_of(a) + ref.fraction_of(b))

    def mul(a: int, b: int) -> int:
        return ref.rne32(ref.fraction_of(a) * ref.fraction_of(b))

    def neg(a: int) -> int:
        return a ^ 0x80000000

    n = round(ref.fraction_of(mul(bits, 0x4238AA3B)))
    high, low, t = (int(np.float32(v).view(np.uint32)) for v in (ref.HI, ref.LO, ref.EXP_T[n % 32]))
    nf = ref.rne32(Fraction(n))
    r = add(add(bits, neg(mul(nf, high))), neg(mul(nf, low)))
    q = mul(add(mul(r, 0x3E2AAAAB), 0x3F000000), r)
    return add(t, mul(t, add(mul(q, r), r))) + (n // 32 << 23)


def test_exp(probe: Probe) -> None:
    random = np.random.default_rng(1)
    # x - m of softmax: differences of FP16, hence many with few bits; then numbers of any size, and all around the limits.
    x = random.uniform(-20, 0, 400_000).astype(np.float16).astype(np.float32)
    m = random.uniform(-20, 20, 400_000).astype(np.float16).astype(np.float32)
    spread = -np.exp2(random.uniform(-30, 7, 500_000)).astype(np.float32)
    edges = np.array([[0x42AE0000], [0x42B00000]], np.uint32) + np.arange(-200, 200).astype(np.uint32)
    positive = -spread[:100_000]
    parts = [(x - np.abs(m)).view(np.uint32), spread.view(np.uint32), positive.view(np.uint32), edges.ravel()]
    parts += [edges.ravel() | 0x80000000, SPECIAL, random.integers(0, 1 << 32, 50_000, np.uint32)]
    words = np.concatenate(parts).astype(np.uint32)
    got = probe("exp", words)
    assert words.size > 1_000_000
    equal(got, ref.exp32(words.view(np.float32)), words)
    inside = np.flatnonzero(np.abs(words.view(np.float32)) < 87)[:: words.size // 1500]
    assert [exact_exp(int(w)) for w in words[inside]] == got[inside].tolist()


@pytest.mark.parametrize("kind", ["recip", "rsqrt"])
def test_roots(probe: Probe, kind: str) -> None:
    random = np.random.default_rng(2)
    mantissas = np.arange(0, 1 << 23, 17, np.uint32)
    words = np.concatenate(
        [mantissas | 0x3F800000, mantissas | 0x40000000, random.integers(0, 1 << 32, 200_000, np.uint32), SPECIAL]
    ).astype(np.uint32)
    got = probe(kind, words)
    assert words.size > 1_000_000
    equal(got, (ref.recip if kind == "recip" else ref.rsqrt)(words.view(np.float32)), words)
    # Against the true function, so that the reference itself is held by something else.
    x = words[: 2 * mantissas.size].view(np.float32).astype(np.float64)
    true = 1 / x if kind == "recip" else 1 / np.sqrt(x)
    assert np.max(np.abs(got[: x.size].view(np.float32) / true - 1)) < 2.0**-22


@pytest.mark.parametrize("beats", [1, 2, 7])
def test_tree(probe: Probe, beats: int) -> None:
    random = np.random.default_rng(beats)
    values = (random.normal(size=(700, beats, 32)) * np.exp2(random.integers(-30, 30, (700, beats, 32)))).astype(np.float32)
    values[random.random(values.shape) < 0.2] = -0.0
    values[:3, 0, 5] = [np.inf, -np.inf, np.nan]
    values[0, -1, 9] = -np.inf
    words = values.reshape(-1).view(np.uint32)
    equal(probe("tree", words, beats), ref.tree_sum(values.reshape(700, -1)), words)


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
    assert (back[~nan] == every[~nan]).all()
    assert (back[nan] == 0xFC00).all()
    order = np.argsort(a[:65536][~nan], kind="stable")
    assert (np.diff(key[~nan][order])[np.diff(a[:65536][~nan][order]) > 0] > 0).all()
    assert key[nan].max() < key[~nan].min()
