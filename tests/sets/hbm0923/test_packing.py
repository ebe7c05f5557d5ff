"""Packing of weights, BN words and features: against a byte-by-byte packer written from the text, and round trips."""

from __future__ import annotations

import random
from fractions import Fraction

import mvm_exact as exact
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from mvm_devices import ArrayMemory, make_device

from fleet.errors import DeviceError
from fleet.sdk import Device
from fleet.sets.hbm0923.layout import FeatureLayout
from fleet.sets.hbm0923.mvm_operands import MvmFields, channel_bytes
from fleet.sets.hbm0923.numerics.mvm import to_fp16
from fleet.sets.hbm0923.weights import load_weights, pack_bn, pack_weights, unpack_weights

F32 = np.dtype(np.float32)


def random_weights(seed: int, chin: int, chout: int, group: int) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(seed)
    codes = rng.integers(-7, 8, (chin, chout)).astype(np.int8)
    return codes, rng.standard_normal((-(-chin // group), chout)).astype(np.float16)


@pytest.mark.parametrize(
    ("chin", "chout", "group"),
    [(1, 1, 32), (64, 10, 128), (127, 33, 64), (576, 9, 32), (2048, 3, 32), (2049, 2, 128), (4096 + 100, 5, 64)],
)
def test_against_the_text(device: Device, chin: int, chout: int, group: int) -> None:
    codes, scales = random_weights(chin, chin, chout, group)
    nibbles = [[abs(v) | (8 if v < 0 else 0) for v in column] for column in codes.T.tolist()]
    patterns = scales.T.view(np.uint16).tolist()
    parameters = device.parameters
    expected = exact.pack_ports(nibbles, patterns, group, parameters["Tout"])
    packed = pack_weights(device, codes, scales, group)
    assert [p.tobytes() for p in packed] == expected
    assert channel_bytes(device, chin, group) * -(-chout // parameters["Tout"]) == len(expected[0])


def test_bits_of_the_worked_example() -> None:
    assert 8 * channel_bytes(make_device("hbm0923"), 4096, 128) == 16896


@settings(max_examples=40, deadline=None)
@given(
    st.sampled_from(["hbm_small", "hbm0923"]),
    st.integers(1, 300) | st.integers(2040, 2060),
    st.integers(1, 40),
    st.sampled_from([32, 64, 128]),
    st.integers(0, 99),
)
def test_weights_round_trip(name: str, chin: int, chout: int, group: int, seed: int) -> None:
    device = make_device(name)
    codes, scales = random_weights(seed, chin, chout, group)
    back = unpack_weights(device, np.stack(pack_weights(device, codes, scales, group)), chin, chout, group)
    lanes = back.codes.transpose(0, 2, 1).reshape(-1, chout)
    assert np.array_equal(lanes[:chin], codes)
    assert not lanes[chin:].any()
    assert np.array_equal(back.scales[:, :, 0].astype(np.float16).view(np.uint16), scales.view(np.uint16))


def test_unpacked_once_as_long_as_memory_is_the_same() -> None:
    device = make_device("hbm_small")
    codes, scales = random_weights(0, 100, 20, 32)
    memory = ArrayMemory(8)
    for port, data in enumerate(pack_weights(device, codes, scales, 32)):
        memory.view("hbm", 64, data.size, port)[:] = data
    o = MvmFields(100, 20, 1, 32, 0, 64, 4096, 64, 64, 64, 64)
    first = load_weights(device, o, memory)
    assert load_weights(device, o, memory) is first
    size = o.channels_per_port(device) * channel_bytes(device, 100, 32)
    for port, at in ((3, 40), (0, 0), (0, size - 1), (7, 0), (7, size - 1)):
        memory.view("hbm", 64 + at, 1, port)[0] ^= 0x11
        assert load_weights(device, o, memory) is not first, "any byte that it covers"
        memory.view("hbm", 64 + at, 1, port)[0] ^= 0x11
        first = load_weights(device, o, memory)
    memory.view("hbm", 64 + size, 1, 7)[0] ^= 0x11
    assert load_weights(device, o, memory) is first


def test_bn_words() -> None:
    words = pack_bn(np.array([1, -2], np.float16), np.array([0.5, 65504], np.float16))
    assert words.size == 128
    assert words[:8].tolist() == [0x00, 0x38, 0x00, 0x3C, 0xFF, 0x7B, 0x00, 0xC0]
    assert not words[8:].any()


@settings(max_examples=40, deadline=None)
@given(st.integers(1, 9), st.integers(1, 100), st.integers(0, 99))
def test_features_round_trip_and_pads_are_zero(tokens: int, channels: int, seed: int) -> None:
    layout = FeatureLayout()
    x = np.random.default_rng(seed).standard_normal((tokens, channels)).astype(np.float16).astype(F32)
    data = layout.pack(x)
    assert data.size == layout.size(x.shape, F32) == -(-channels // 32) * tokens * 64
    assert np.array_equal(layout.unpack(data, x.shape, F32), x)
    for t in range(tokens):
        for c in range(-(-channels // 32) * 32):
            at = exact.feature_address(0, tokens * 64, t, c)
            bits = int(data[at]) | int(data[at + 1]) << 8
            assert bits == (int(np.float16(x[t, c]).view(np.uint16)) if c < channels else 0)


def test_vectors_and_indices() -> None:
    layout = FeatureLayout()
    v = np.arange(40, dtype=F32)
    assert np.array_equal(layout.pack(v), layout.pack(v[None]))
    assert layout.unpack(layout.pack(v), (40,), F32).tolist() == v.tolist()
    indices = np.array([3, 0, 70000], np.int64)
    assert layout.pack(indices).tobytes() == bytes.fromhex("03000000 00000000 70110100")
    assert layout.unpack(layout.pack(indices), (3,), np.dtype(np.int64)).tolist() == [3, 0, 70000]


@pytest.mark.parametrize("array", [np.zeros((0, 4), F32), np.array([-1]), np.array([1 << 32]), np.array([True])])
def test_what_does_not_fit_is_refused(array: np.ndarray) -> None:
    with pytest.raises(DeviceError):
        FeatureLayout().pack(array)


def test_rounding_to_fp16_is_exact_on_ties_and_random_bits() -> None:
    """binary32 and binary64 to binary16, against rationals: every neighbour of every tie, and random patterns."""
    rng = random.Random(1)
    patterns = [rng.getrandbits(32) for _ in range(3000)]
    halves = np.arange(0, 0x7C00, 17, dtype=np.uint16).view(np.float16).astype(np.float32)
    ties = ((halves[:-1].astype(np.float64) + halves[1:]) / 2).astype(np.float32)
    neighbours = np.concatenate([ties, np.nextafter(ties, np.float32(np.inf)), np.nextafter(ties, np.float32(0)), -ties])
    edges = np.array([65519.99, 65520, 65504, 2**-25, 2**-26, 2.0**-24 * 1.5, 1e-45, -1e-45, 0.0, -0.0], np.float32)
    values = np.concatenate([np.array(patterns, np.uint32).view(np.float32), neighbours, edges])
    want = [exact.encode16(exact.decode(int(b), 8, 23)) for b in values.view(np.uint32)]
    assert to_fp16(values).tolist() == want
    doubles = np.array([1 + 2**-11 + 2**-40, 1 + 2**-11, 1 + 3 * 2**-11, 65520 - 2**-30, 2**-25 + 2**-60])
    expected = [exact.encode16(Fraction(float(v))) for v in doubles]
    assert to_fp16(doubles).tolist() == expected  # rounded once: not through binary32
