"""The stream: sizes and memory, rounded weights, hashes, caches, refusals."""

from __future__ import annotations

import struct
from dataclasses import replace
from itertools import pairwise

import numpy as np
import pytest
from graphs import Graph, digits, one_matmul, rand

from fleet.errors import DeviceError, ModelError
from fleet.ir import dialect as d
from fleet.ir.lowering_options import LoweringOptions
from fleet.isa.registry import find_device
from fleet.targets import quantised
from fleet.targets.accel import compile as module
from fleet.targets.accel.compile import compile_accel, rounded_program
from fleet.targets.accel.listing import regs_listing
from fleet.targets.accel.memory.plan import AccelMemoryPlan

SET, SMALL = find_device("hbm_small")


def test_tensors_and_constants_do_not_meet() -> None:
    plan = compile_accel(digits(), SET, SMALL).plan
    for space in ("ddr", "hbm"):
        spans = [(c.offset, c.size) for c in plan.constants.values() if c.space == space]
        spans += [(0, plan.shared)] if space == "ddr" else []
        spans.sort()
        assert all(a + n <= b for (a, n), (b, _) in pairwise(spans))
        assert all(offset % 64 == 0 for offset, _ in spans)
        assert plan.used[space] == sum(spans[-1])


def test_rounded_weights_are_codes_times_scales() -> None:
    program = digits()
    rounded = rounded_program(program, SET, SMALL)
    w = rounded.weights["w1"]
    assert w.dtype == np.float32
    assert rounded.hash != program.hash
    # Read back by hand out of the images: per channel a beat of scales, then 64 nibbles.
    banks = compile_accel(program, SET, SMALL).plan.constants["w1.int4g128"].data
    for c in (0, 1, 9, 127):
        stream = banks[c % 8][c // 8 * 64 :][:64].tobytes()
        scale = struct.unpack("<e", stream[:2])[0]
        nibbles = [n for byte in stream[32:] for n in (byte & 15, byte >> 4)]
        assert w[:, c].tolist() == [(n & 7) * (-scale if n & 8 else scale) for n in nibbles]
        assert np.abs(w[:, c] - program.weights["w1"][:, c]).max() < 0.3 * np.abs(program.weights["w1"][:, c]).max()
    assert np.array_equal(rounded.weights["b1"], program.weights["b1"].astype(np.float16).astype(np.float32))
    again = rounded_program(rounded, SET, SMALL, LoweringOptions(clip="absmax"))
    assert again.weights["b1"].tolist() == rounded.weights["b1"].tolist()


@pytest.mark.parametrize("group", [32, 64, 128])
def test_group_option(group: int) -> None:
    call = next(compile_accel(digits(), SET, SMALL, LoweringOptions(group=group)).calls)
    assert call.fields["mvm_tblk"] & 0x7FFFF == group


def test_group_option_is_checked() -> None:
    with pytest.raises(ModelError, match="32, 64 or 128"):
        compile_accel(digits(), SET, SMALL, LoweringOptions(group=48))


def test_hash_and_cache(monkeypatch: pytest.MonkeyPatch) -> None:
    first = compile_accel(digits(), SET, SMALL)
    assert compile_accel(digits(), SET, SMALL) is first  # by content: the program is another object
    module._COMPILED.clear()
    calls: list[str] = []
    monkeypatch.setattr(quantised, "quantise", lambda *_a, **_k: calls.append("quantised"))
    again = compile_accel(digits(), SET, SMALL)
    assert calls == []  # quantised once
    assert again is not first
    assert again.stream_hash == first.stream_hash
    monkeypatch.undo()
    other = compile_accel(digits(seed=9), SET, SMALL)
    grouped = compile_accel(digits(), SET, SMALL, LoweringOptions(group=32))
    assert len({first.stream_hash, other.stream_hash, grouped.stream_hash}) == 3


def test_listing_shows_every_instruction_and_write() -> None:
    compiled = compile_accel(digits(), SET, SMALL)
    text = regs_listing(compiled.stream)
    assert compiled.description_hash in text
    assert compiled.stream_hash in text
    assert text.count("<-") == 3 * 32
    assert text.count("  0x0084 <- 0x0000031f") == 1
    assert text.count("  0x0084 <- 0x00000b1f") == 1


def test_tokens_are_tiled() -> None:
    """1024 words of 64 inputs: 10 words a token leave room for 102 tokens; with argmax tiles start at 16 tokens."""
    compiled = compile_accel(one_matmul(250, 640, 16), SET, SMALL)
    assert [c.token_range for c in compiled.calls] == [(0, 102), (102, 204), (204, 250)]
    g = Graph({"x": (250, 640)}, {"w": rand(0, 640, 16)})
    g.binary(d.MatmulOp, "m", "x", "w", (250, 16))
    g.argmax("y", "m", (250,))
    assert [c.token_range for c in compile_accel(g.done("y"), SET, SMALL).calls] == [(0, 96), (96, 192), (192, 250)]


def test_one_token_that_does_not_fit() -> None:
    with pytest.raises(DeviceError, match=r"20000 inputs takes 313 words of 64, the device has 256 \(WtDepth\)"):
        compile_accel(one_matmul(1, 20000, 1), SET, SMALL)


def test_weights_that_do_not_fit() -> None:
    with pytest.raises(DeviceError, match=r"needs [\d,]+ bytes of hbm a port; the device has 4,194,304"):
        compile_accel(one_matmul(1, 8192, 8192), SET, SMALL)


def test_a_full_memory_says_what_is_there() -> None:
    plan = AccelMemoryPlan(SMALL)
    plan.constant("a", "hbm", (np.zeros(3 << 20, np.uint8),) * 8, 64)
    with pytest.raises(DeviceError, match="constant 'b' needs 2,097,152 bytes of hbm a port beside 3,145,728 taken"):
        plan.constant("b", "hbm", (np.zeros(2 << 20, np.uint8),) * 8, 64)
    with pytest.raises(DeviceError, match="stored twice with different bytes"):
        plan.constant("a", "hbm", (np.ones(3 << 20, np.uint8),) * 8, 64)


def test_tensors_that_do_not_fit() -> None:
    with pytest.raises(DeviceError, match="of ddr"):
        compile_accel(one_matmul(400_000, 64, 32), SET, SMALL)


@pytest.mark.parametrize(("name", "value"), [("w1", np.nan), ("w2", np.inf), ("w3", 1e8)])
def test_weights_that_cannot_be_stored(name: str, value: float) -> None:
    program = digits()
    bad = program.weights[name].copy()
    bad.flat[3] = value
    with pytest.raises(ModelError, match=f"weight '{name}'"):
        compile_accel(replace(program, weights={**program.weights, name: bad}), SET, SMALL)


@pytest.mark.parametrize(("name", "value", "op"), [("b3", np.nan, "logits"), ("b1", 1e6, "a1")])
def test_a_bias_that_cannot_be_stored_is_added_on_the_host(name: str, value: float, op: str) -> None:
    program = digits()
    bad = program.weights[name].copy()
    bad.flat[3] = value
    compiled = compile_accel(replace(program, weights={**program.weights, name: bad}), SET, SMALL)
    assert op in compiled.missed, compiled.missed


def test_one_weight_used_twice_is_stored_once() -> None:
    g = Graph({"x": (2, 32)}, {"w": rand(0, 32, 32), "b": rand(1, 32)})
    g.binary(d.MatmulOp, "m", "x", "w", (2, 32))
    g.binary(d.AddOp, "a", "m", "b", (2, 32))
    g.binary(d.MatmulOp, "n", "a", "w", (2, 32))
    g.binary(d.AddOp, "y", "n", "b", (2, 32))
    compiled = compile_accel(g.done("y"), SET, SMALL)
    assert len(compiled.plan.constants) == 2


def test_one_weight_in_two_ways_is_refused() -> None:
    """As matrix it is rounded to INT4, as bias to FP16: there is no one rounded golden."""
    g = Graph({"x": (2, 1)}, {"w": rand(0, 1, 32)})
    g.binary(d.MatmulOp, "m", "x", "w", (2, 32))
    g.binary(d.AddOp, "y", "m", "w", (2, 32))
    with pytest.raises(DeviceError, match="weight 'w': used in two ways"):
        compile_accel(g.done("y"), SET, SMALL)
