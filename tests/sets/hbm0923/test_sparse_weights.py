"""Sparse weights: the format against a reader written from the text, and the product against the dense one in every bit."""

from __future__ import annotations

from dataclasses import replace

import mvm_exact as exact
import numpy as np
import pytest
import sparse_exact as plain
from hypothesis import given, settings
from hypothesis import strategies as st
from mvm_devices import ArrayMemory, make_device

from fleet.errors import DeviceError
from fleet.sdk import Device, native
from fleet.sets.hbm0923.instructions import INSTRUCTIONS
from fleet.sets.hbm0923.mvm_operands import MvmFields, channel_bytes
from fleet.sets.hbm0923.sparse import expand, fewest_kept, pack_sparse
from fleet.sets.hbm0923.weights import pack_weights
from fleet.transforms.prune import largest_of_blocks

SMALL, BIG = make_device("hbm_small_sparse"), make_device("hbm0923_sparse")
DEVICES = st.sampled_from([SMALL, BIG])
KEPT = st.sampled_from([4, 2, 1])
INPUTS = st.integers(1, 40) | st.integers(1, 1100) | st.integers(1900, 2400) | st.sampled_from([2048, 4096, 6144])
ODD = np.array([0x7C00, 0xFC00, 0x7E00, 0xFFFF, 0x0000, 0x8000, 0x0001, 0x83FF, 0x7BFF, 0xFBFF], np.uint16)


def pruned(rng: np.random.Generator, chin: int, chout: int, kept: int) -> np.ndarray:
    codes = rng.integers(-7, 8, (chin, chout)).astype(np.int8)
    return np.where(largest_of_blocks(np.abs(codes), kept), codes, 0).astype(np.int8)


def channels(device: Device, ports: list[np.ndarray], chin: int, kept: int) -> list[bytes]:
    """The streams of the channels, those of the padding too."""
    size = plain.channel_bytes(chin, kept)
    return [ports[c % len(ports)][c // len(ports) * size :][:size].tobytes() for c in range(len(ports) * ports[0].size // size)]


@settings(max_examples=60, deadline=None)
@given(DEVICES, INPUTS, st.integers(1, 35), KEPT, st.integers(0, 1 << 32))
def test_what_is_packed_reads_back(device: Device, chin: int, chout: int, kept: int, seed: int) -> None:
    rng = np.random.default_rng(seed)
    codes = pruned(rng, chin, chout, kept)
    scales = rng.standard_normal((-(-chin // 128), chout)).astype(np.float16)
    streams = channels(device, pack_sparse(device, codes, scales, kept), chin, kept)
    assert len(streams) == -(-chout // device.parameters["Tout"]) * device.parameters["Tout"]
    for c, stream in enumerate(streams):
        assert len(stream) == channel_bytes(device, chin, 128, kept)
        nibbles, bits = plain.read_channel(stream, chin, kept)
        wanted = codes[:, c].tolist() if c < chout else [0] * chin
        assert [-(v & 7) if v & 8 else v for v in nibbles] == wanted
        assert bits == (scales[:, c].view(np.uint16).tolist() if c < chout else [0] * len(scales))


@settings(max_examples=60, deadline=None)
@given(DEVICES, INPUTS, KEPT, st.integers(0, 1 << 32))
def test_any_bits_are_a_stream(device: Device, chin: int, kept: int, seed: int) -> None:
    rng = np.random.default_rng(seed)
    stream = rng.integers(0, 256, (3, plain.channel_bytes(chin, kept)), dtype=np.uint8)
    dense = expand(device, stream, chin, kept)
    for c in range(3):
        nibbles, scales = plain.read_channel(stream[c].tobytes(), chin, kept)
        assert dense[c].tobytes() == exact.pack_channel(nibbles, scales, 128)


@pytest.mark.parametrize(("kept", "beats", "bits"), [(0, 33, 4.125), (4, 25, 3.125), (2, 15, 1.875), (1, 8, 1.0)])
def test_bits_of_a_weight(kept: int, beats: int, bits: float) -> None:
    for device in (SMALL, BIG):
        assert channel_bytes(device, 4096, 128, kept) == 2 * 32 * beats
    assert 8 * 32 * beats / 2048 == bits


@settings(max_examples=60, deadline=None)
@given(st.integers(1, 70), st.integers(1, 5), KEPT, st.integers(0, 1 << 32))
def test_the_largest_of_a_block_stay(chin: int, chout: int, kept: int, seed: int) -> None:
    weights = np.random.default_rng(seed).integers(-9, 10, (chin, chout)).astype(np.float32)
    mask = largest_of_blocks(np.abs(weights), kept)
    assert mask.T.tolist() == [plain.keep(column, kept) for column in weights.T.tolist()]
    assert fewest_kept(np.where(mask, 1, 0).astype(np.int8)) == next(k for k in (1, 2, 4) if k >= min(kept, chin))


def test_a_block_with_too_many_weights_is_refused() -> None:
    codes = np.zeros((24, 3), np.int8)
    codes[8:11, 1] = 5
    scales = np.ones((1, 3), np.float16)
    pack_sparse(SMALL, codes, scales, 4)
    for kept in (2, 1):
        with pytest.raises(DeviceError, match=f"more than {kept} weights other than 0"):
            pack_sparse(SMALL, codes, scales, kept)
    codes[8:14, 1] = 5
    assert fewest_kept(codes) == 0
    with pytest.raises(DeviceError, match="more than 4 weights"):
        pack_sparse(SMALL, codes, scales, 4)


def products(
    device: Device, rng: np.random.Generator, o: MvmFields, streams: dict[int, list[np.ndarray]], special: bool
) -> dict[int, np.ndarray]:
    """The outputs (FP16 bits, tokens by channels) of the same features by each kind of weights."""
    x = rng.normal(0, 1, (o.tokens, o.in_surfaces * 32)).astype(np.float16).view(np.uint16)
    if special:
        x = np.where(rng.random(x.shape) < 2 / o.chin, rng.choice(ODD, x.shape), x).astype(np.uint16)
    got: dict[int, np.ndarray] = {}
    for kept, ports in streams.items():
        fields = replace(o, kept=kept).encode(device)
        assert INSTRUCTIONS["mvm"].legal(device, fields) == []
        memory = ArrayMemory(len(ports), hbm=o.weights + ports[0].size)
        for port, data in enumerate(ports):
            memory.view("hbm", o.weights, data.size, port)[:] = data
        ddr = memory.view("ddr", o.input, o.in_surfaces * o.in_surface).view(np.uint16).reshape(o.in_surfaces, o.tokens, 32)
        ddr[:] = x.reshape(o.tokens, o.in_surfaces, 32).transpose(1, 0, 2)
        writes = INSTRUCTIONS["mvm"].execute(device, fields, memory)
        lanes = np.concatenate([w.data.view(np.uint16) for w in writes]).reshape(o.out_surfaces, o.tokens, 32)
        got[kept] = lanes.transpose(1, 0, 2).reshape(o.tokens, -1)[:, : o.chout]
    return got


def operands(chin: int, chout: int, tokens: int) -> MvmFields:
    row = 64 * tokens
    return MvmFields(chin, chout, tokens, 128, 0, 64, 1 << 19, row, row, row, row)


@settings(max_examples=40, deadline=None)
@given(DEVICES, INPUTS, st.integers(1, 40), st.integers(1, 5), KEPT, st.booleans(), st.booleans(), st.integers(0, 1 << 32))
def test_the_product_is_the_dense_one(
    device: Device, chin: int, chout: int, tokens: int, kept: int, special: bool, compiled: bool, seed: int
) -> None:
    """In every bit, also where an infinite feature meets a weight that is not stored."""
    rng = np.random.default_rng(seed)
    codes = pruned(rng, chin, chout, kept)
    scales = rng.standard_normal((-(-chin // 128), chout)).astype(np.float16)
    streams = {0: pack_weights(device, codes, scales, 128), kept: pack_sparse(device, codes, scales, kept)}
    with pytest.MonkeyPatch.context() as patch:
        if not compiled:
            patch.setenv(native.VARIABLE, "numpy")
        got = products(device, rng, operands(chin, chout, tokens), streams, special)
    assert np.array_equal(got[0], got[kept])


@pytest.mark.parametrize("kept", [4, 2, 1])
@pytest.mark.parametrize("chin", [5, 130, 600])
def test_any_stream_multiplies_as_the_text_says(chin: int, kept: int) -> None:
    rng = np.random.default_rng(chin)
    stream = rng.integers(0, 256, (8, plain.channel_bytes(chin, kept)), dtype=np.uint8)
    halves = stream[:, :32].view(np.uint16)
    halves[:] = rng.normal(0, 1, halves.shape).astype(np.float16).view(np.uint16)
    for special in (False, True):
        rng = np.random.default_rng([chin, special])
        got = products(SMALL, rng, operands(chin, 8, 2), {kept: list(stream)}, special)[kept]
        rng = np.random.default_rng([chin, special])
        o = operands(chin, 8, 2)
        x = rng.normal(0, 1, (2, o.in_surfaces * 32)).astype(np.float16).view(np.uint16)
        if special:
            x = np.where(rng.random(x.shape) < 2 / chin, rng.choice(ODD, x.shape), x).astype(np.uint16)
        for t in range(2):
            for c in range(8):
                nibbles, scales = plain.read_channel(stream[c].tobytes(), chin, kept)
                assert got[t, c] == exact.mvm(x[t, :chin].tolist(), nibbles, scales, 128)


def test_what_is_not_sparse_is_refused() -> None:
    legal = INSTRUCTIONS["mvm"].legal
    o = replace(operands(300, 9, 2), kept=2)
    assert legal(SMALL, o.encode(SMALL)) == []
    dense = make_device("hbm_small")
    assert legal(dense, o.encode(dense)) == ["mvm_sparse: 2, expected 0: hbm_small has no sparse weights (Sparse)"]
    assert legal(SMALL, o.encode(SMALL) | {"mvm_sparse": 3}) == ["mvm_sparse: 3, expected 0, 4, 2 or 1"]
    assert legal(SMALL, replace(o, tblk=64).encode(SMALL)) == ["mvm_sparse: 2 with blocks of 64 (mvm_tblk), expected blocks of 128"]
    bits = 8 * channel_bytes(SMALL, 300, 128, 2)
    assert legal(SMALL, o.encode(SMALL) | {"mvm_wt_bits": 256}) == [
        f"mvm_wt_bits: 256, expected {bits} for 300 inputs in blocks of 128, 2 of 8 kept"
    ]


@pytest.mark.parametrize(("kept", "most"), [(0, 204), (4, 170), (2, 128), (1, 128)])
def test_tokens_of_300_inputs_that_fit(kept: int, most: int) -> None:
    """Words of 64 inputs: 5 dense, 6 in steps of 128, 8 in steps of 256; the buffer holds 1,024."""
    fits, beyond = (replace(operands(300, 8, n), kept=kept).encode(SMALL) for n in (most, most + 1))
    assert INSTRUCTIONS["mvm"].legal(SMALL, fits) == []
    assert [line.split(":")[0] for line in INSTRUCTIONS["mvm"].legal(SMALL, beyond)] == ["mvm_win"]
