"""The compiled product against NumPy's, and against exact rationals, in every variant that this machine runs."""

from __future__ import annotations

import ctypes
import mmap

import numpy as np
import pytest
import test_mvm as mvm
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from mvm_devices import ArrayMemory, make_device

from fleet.sdk import Device, native
from fleet.sets.hbm0923.instructions import INSTRUCTIONS
from fleet.sets.hbm0923.kernel import compiled_product
from fleet.sets.hbm0923.mvm_operands import MvmFields, channel_bytes
from fleet.sets.hbm0923.numerics.mvm import F32
from fleet.sets.hbm0923.product import numpy_product, product

ALL = np.arange(1 << 16, dtype=np.uint16)
FINITE = ALL[np.isfinite(ALL.view(np.float16))]
WEIGHTS = 0x60
_ONE_DIGIT = [1, 126, 127, 128, 129, 0x8001, 0x807F, 0x8080, 0x8081]
"""In units of 2^-24 these are the integers themselves: around the edge between one digit and two."""


def units(value: float) -> int:
    """The FP16 bit pattern of so many units of 2^-24, rounded."""
    return int(np.float64(value * 2.0**-24).astype(np.float16).view(np.uint16))


_EDGES = [units(s * f * 2.0**k) for k in (7, 15, 23, 31, 39) for f in (0.9921875, 0.99609375, 0.99951171875, 1.0) for s in (1, -1)]
"""Around the edges of two, three, four, five and six digits, when a lane of one unit keeps the zeros at the end."""
KINDS = {
    "finite": FINITE,
    "normal": None,
    "subnormal": np.array([0, 1, 0x3FF, 0x8000, 0x8001, 0x83FF], np.uint16),
    "span": np.array([0x7BFF, 0xFBFF, 1, 0x8001, 0x3C00], np.uint16),
    "edges": np.array(_ONE_DIGIT + _EDGES, np.uint16),
    "zeros": np.array([0, 0x8000], np.uint16),
    "powers": (np.arange(31, dtype=np.uint16) << 10),
}


@pytest.fixture(params=native.VARIANTS)
def variant(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> str:
    if request.param not in native.variants():
        pytest.skip(f"this machine does not run {request.param}")
    monkeypatch.setenv(native.VARIABLE, request.param)
    return request.param


def problem(
    name: str, tokens: int, chin: int, chout: int, tblk: int, kind: str, seed: int
) -> tuple[Device, MvmFields, ArrayMemory]:
    """Random bits everywhere, pads included; features below CHin of the kind."""
    rng, device = np.random.default_rng(seed), make_device(name)
    surface = (tokens + int(rng.integers(0, 3))) * 64
    o = MvmFields(chin, chout, tokens, tblk, 0x40, WEIGHTS, 1 << 20, surface, surface, surface, surface)
    size = o.channels_per_port(device) * channel_bytes(device, chin, tblk)
    # Nothing behind the operands: what reads beyond them leaves the array.
    memory = ArrayMemory(device.parameters["HbmPorts"], ddr=0x40 + (o.in_surfaces - 1) * surface + tokens * 64, hbm=WEIGHTS + size)
    for space in memory.spaces.values():
        space[:] = rng.integers(0, 256, space.size, np.uint8)
    patterns = KINDS[kind]
    if patterns is None:
        x = rng.normal(0, 1, (tokens, chin)).astype(np.float16).view(np.uint16)
    else:
        x = rng.choice(patterns, (tokens, chin))
    ddr = memory.spaces["ddr", 0]
    for c in range(chin):
        at = 0x40 + c // 32 * surface + c % 32 * 2
        rows = np.lib.stride_tricks.as_strided(ddr[at:], (tokens, 2), (64, 1))
        rows[:] = x[:, c].astype("<u2")[:, None].view(np.uint8)
    return device, o, memory


def compiled(device: Device, o: MvmFields, memory: ArrayMemory) -> F32 | None:
    """The product if compiled code computes it."""
    return None if compiled_product(device, o, memory) is None else product(device, o, memory)


def same(got: F32, want: F32) -> None:
    """Equal bits, but for the payload and sign of NaN, which nothing can see."""
    nan = np.isnan(want)
    assert np.array_equal(np.isnan(got), nan)
    wrong = np.ascontiguousarray(got).view(np.uint32) != np.ascontiguousarray(want).view(np.uint32)
    assert not (wrong & ~nan).any(), f"first (channel, token): {np.argwhere(wrong & ~nan)[0]}"


@settings(max_examples=120, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    st.sampled_from(["hbm_small", "hbm0923"]),
    st.integers(1, 5) | st.integers(1, 70),
    st.integers(1, 300) | st.integers(2030, 2070) | st.integers(4090, 4110),
    st.integers(1, 70),
    st.sampled_from([32, 64, 128]),
    st.sampled_from(sorted(KINDS)),
    st.integers(0, 1 << 32),
)
def test_equals_numpy(variant: str, name: str, tokens: int, chin: int, chout: int, tblk: int, kind: str, seed: int) -> None:
    device, o, memory = problem(name, tokens, chin, chout, tblk, kind, seed)
    got = compiled(device, o, memory)
    assert got is not None
    assert got.shape == (chout, tokens)
    same(got, numpy_product(device, o, memory))


@pytest.mark.parametrize("tokens", [1, 2, 63, 64, 65])
def test_whole_size(variant: str, tokens: int) -> None:
    """More than one block of channels in every variant, and the last one not whole."""
    device, o, memory = problem("hbm0923", tokens, 4096, 200, 128, "normal", tokens)
    got = compiled(device, o, memory)
    assert got is not None
    same(got, numpy_product(device, o, memory))


@pytest.mark.parametrize("name", sorted(mvm.BY_HAND))
def test_vectors_by_hand(variant: str, device: Device, name: str) -> None:
    problem_, expected = mvm.BY_HAND[name]
    assert mvm.check(device, problem_)[0][0] == expected


@pytest.mark.parametrize("kind", ["normal", "wide", "any"])
@pytest.mark.parametrize("tblk", [32, 64, 128])
@pytest.mark.parametrize("chin", [31, 161])
def test_exact_rationals(variant: str, device: Device, chin: int, tblk: int, kind: str) -> None:
    mvm.check(device, mvm.random_problem(chin + tblk, 2, chin, 19, tblk, kind, extra_tokens=1))


@pytest.mark.parametrize("kind", ["normal", "wide"])
def test_numpy_alone_is_exact_too(monkeypatch: pytest.MonkeyPatch, device: Device, kind: str) -> None:
    """The other side of the comparisons above, without compiled code."""
    monkeypatch.setenv(native.VARIABLE, "numpy")
    p = mvm.random_problem(1, 3, 300, 19, 64, kind)
    assert native.target() is None
    mvm.check(device, p)


def test_sums_at_their_largest(variant: str) -> None:
    """65504 and 2^-24 in turns, codes 7, -7 and 0: six digits, and the products of a whole group of one sign."""
    device, o, memory = problem("hbm_small", 1, 256, 9, 128, "span", 0)
    x = np.array([0x7BFF, 1], np.uint16)
    for nibbles in (0x77, 0xFF, 0x88, 0x00):
        memory.spaces["ddr", 0][0x40:].view(np.uint16)[:] = np.resize(x, (memory.spaces["ddr", 0].size - 0x40) // 2)
        for port in range(8):
            memory.spaces["hbm", port][WEIGHTS:] = nibbles
            memory.spaces["hbm", port][WEIGHTS : WEIGHTS + 2] = [0x00, 0x3C]
        got = compiled(device, o, memory)
        assert got is not None
        same(got, numpy_product(device, o, memory))


@pytest.mark.parametrize("bits", [0x7C00, 0xFC00, 0x7C01, 0xFFFF])
@pytest.mark.parametrize("lane", [0, 31, 32, 70])
def test_what_is_not_finite_is_left_to_numpy(variant: str, bits: int, lane: int) -> None:
    device, o, memory = problem("hbm_small", 3, 71, 5, 32, "finite", 1)
    at = 0x40 + lane // 32 * o.in_surface + 2 * 64 + lane % 32 * 2
    memory.spaces["ddr", 0][at : at + 2] = [bits & 255, bits >> 8]
    assert compiled_product(device, o, memory) is None
    assert INSTRUCTIONS["mvm"].execute(device, o.encode(device), memory)


def test_pads_do_not_count(variant: str) -> None:
    """A NaN beyond CHin is no reason to take the other path."""
    device, o, memory = problem("hbm_small", 2, 33, 5, 32, "finite", 1)
    want = numpy_product(device, o, memory)
    at = 0x40 + o.in_surface + 2
    memory.spaces["ddr", 0][at : at + 62] = 0xFF
    got = compiled(device, o, memory)
    assert got is not None
    same(got, want)


def test_weights_are_read_every_time(variant: str) -> None:
    device, o, memory = problem("hbm_small", 1, 64, 8, 32, "normal", 1)
    first = compiled(device, o, memory)
    memory.spaces["hbm", 5][WEIGHTS : WEIGHTS + 4] = [0x00, 0x3C, 0x00, 0x3C]
    memory.spaces["hbm", 5][WEIGHTS + 32 : WEIGHTS + 64] = 0x11
    second = compiled(device, o, memory)
    assert first is not None
    assert second is not None
    same(second, numpy_product(device, o, memory))
    assert first[5, 0] != second[5, 0]


def guarded(data: np.ndarray) -> np.ndarray:
    """A copy that ends where a page begins that must not be touched: whoever reads on ends the process."""
    page = mmap.PAGESIZE
    size = -(-data.size // page) * page
    whole = np.frombuffer(mmap.mmap(-1, size + page), np.uint8)
    libc = ctypes.CDLL(None, use_errno=True)
    assert libc.mprotect(ctypes.c_void_p(whole.ctypes.data + size), ctypes.c_size_t(page), 0) == 0
    whole[size - data.size : size] = data
    return whole[size - data.size : size]


@pytest.mark.parametrize("name", ["hbm_small", "hbm0923"])
@pytest.mark.parametrize(
    ("tokens", "chin", "chout", "tblk"), [(1, 1, 1, 128), (2, 65, 33, 32), (3, 2049, 70, 64), (1, 256, 64, 128)]
)
def test_nothing_is_read_behind_the_operands(variant: str, name: str, tokens: int, chin: int, chout: int, tblk: int) -> None:
    device, o, memory = problem(name, tokens, chin, chout, tblk, "finite", 3)
    want = numpy_product(device, o, memory)
    for key, space in memory.spaces.items():
        memory.spaces[key] = guarded(space)
    got = compiled(device, o, memory)
    assert got is not None
    same(got, want)
