"""Several instructions on one memory: the on-chip space, refused instructions, and what engine `iss` makes of them."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import replace
from fractions import Fraction
from pathlib import Path

import numpy as np
import operands_of
import pytest
from instruction_bench import EPS
from mvm_devices import make_device

from fleet.engines.execute import execute_calls
from fleet.engines.trace import Commit, Trace
from fleet.errors import ComparisonFailure, DeviceError
from fleet.isa.digest import HBM_PORT_0, mix, space_number
from fleet.isa.memory import MappedMemory
from fleet.sdk import Call, Device, Instruction, InstructionSet, Memory, Write, contiguous
from fleet.sets.hbm0923 import INSTRUCTION_SET
from fleet.sets.hbm0923.instructions import INSTRUCTIONS
from fleet.sets.hbm0923.layout import FeatureLayout
from fleet.sets.hbm0923.mvm_operands import MvmFields
from fleet.sets.hbm0923.numerics.act_tables import act_table
from fleet.sets.hbm0923.numerics.float32 import fp20_word
from fleet.sets.hbm0923.tables import pack_act, pack_norm
from fleet.sets.hbm0923.units.norm import EPS_REGISTER
from fleet.sets.hbm0923.weights import pack_bn, pack_weights

SMALL = make_device("hbm_small")
SET: InstructionSet = replace(INSTRUCTION_SET, instructions=dict(INSTRUCTIONS))
HALF = SMALL.parameters["OnchipDepth"] * 64
T, C = 5, 64
X, GAMMA, TABLE, BN, A, B, Y = 0x1000, 0x8000, 0x9000, 0xA000, 0x10000, 0x20000, 0x30000


@pytest.fixture
def memory(tmp_path: Path) -> MappedMemory:
    """Input, coefficients, weights of one layer."""
    rng = np.random.default_rng(2)
    memory = MappedMemory(SMALL, tmp_path)
    memory.set_registers({EPS_REGISTER: EPS})
    for at, data in (
        (X, FeatureLayout().pack(rng.standard_normal((T, C)))),
        (GAMMA, pack_norm(rng.standard_normal(C).astype(np.float16))),
        (TABLE, pack_act(act_table("silu"))),
        (BN, pack_bn(rng.standard_normal(C).astype(np.float16), rng.standard_normal(C).astype(np.float16))),
    ):
        memory.view("ddr", at, data.size)[:] = data
    codes = rng.integers(-7, 8, (C, C)).astype(np.int8)
    for port, data in enumerate(pack_weights(SMALL, codes, np.full((1, C), 0.05, np.float16), 128)):
        memory.view("hbm", 0, data.size, port)[:] = data
    return memory


def layer(device: Device, onchip: bool) -> list[Call]:
    """norm -> mvm_bn -> act -> mvm_bn_res with the norm's result as residual -> plus x; on chip in between or not."""
    s = T * 64
    ping, pong = (0, HALF) if onchip else (A, B)
    second = ping + 0x4000
    norm = operands_of.norm(C, 1, T, GAMMA, X, s, s, ping, s, s, recip=fp20_word(Fraction(1, C)), out_onchip=onchip)
    mvm = MvmFields(C, C, T, 128, ping, 0, pong, s, s, s, s, bn=BN, onchip=3 * onchip)
    act = operands_of.act(C, 1, T, TABLE, pong, s, s, second, s, s, in_onchip=onchip, out_onchip=onchip)
    back = MvmFields(C, C, T, 128, second, 0, pong, s, s, s, s, bn=BN, residual=ping, onchip=7 * onchip)
    plus = operands_of.elementwise(0, C, 1, T, pong, X, s, s, Y, s, s, a_onchip=onchip)
    return [
        Call("norm", norm.encode()),
        Call("mvm_bn", mvm.encode(device)),
        Call("act", act.encode()),
        Call("mvm_bn_res", back.encode(device)),
        Call("elementwise", plus.encode()),
    ]


def run(memory: Memory, calls: Sequence[Call], **options: bool) -> list[Commit]:
    return list(execute_calls(SET, SMALL, memory, calls, 0, **options))


def test_on_chip_or_not_is_the_same(memory: MappedMemory) -> None:
    """Five instructions that pass values through both halves leave what the same five leave through DDR."""
    commits = run(memory, layer(SMALL, False))
    want = memory.view("ddr", Y, 2 * T * 64).copy()
    assert want.any()
    memory.view("ddr", A, Y + 0x1000 - A)[:] = 0
    on_chip = run(memory, layer(SMALL, True))
    assert np.array_equal(memory.view("ddr", Y, 2 * T * 64), want)
    assert not memory.view("ddr", A, 0x20000).any()
    assert [c.bytes_written for c in commits] == [c.bytes_written for c in on_chip] == [2 * T * 64] * 5
    assert commits[-1].digest == on_chip[-1].digest
    assert all(a.digest != b.digest for a, b in zip(commits[:-1], on_chip[:-1], strict=True))


def test_digest_of_the_on_chip_space(memory: MappedMemory) -> None:
    """From the bytes as they stand afterwards: the output of act at 0x4000 of the first half."""
    commits = run(memory, layer(SMALL, True)[:3])
    data = memory.view("onchip", 0x4000, 2 * T * 64)
    offsets = np.arange(0x4000, 0x4000 + data.size)
    assert commits[2].digest == int(mix(space_number(SMALL, "onchip"), offsets, data).sum(dtype=np.uint64))


def test_digest_of_scattered_writes(memory: MappedMemory) -> None:
    """A cache write: one element a port and position, by the bytes' own addresses."""
    o = operands_of.dat2hbm(False, 64, 1, T, 3, X, T * 64, 0, 0x2000, 0, 64)
    (commit,) = run(memory, [Call("dat2hbm", o.encode())])
    total = 0
    for d in range(64):
        at = 0x2000 + d // 8 * 64 + 6
        data = memory.view("hbm", at, 2 * T, d % 8)
        total += int(mix(HBM_PORT_0 + d % 8, np.arange(at, at + data.size), data).sum(dtype=np.uint64))
    assert commit.digest == total % (1 << 64)
    assert commit.bytes_written == 2 * T * 64


def test_epsilon_is_a_register(memory: MappedMemory) -> None:
    call = layer(SMALL, False)[0]
    first = run(memory, [call])[0].digest
    memory.set_registers({EPS_REGISTER: 0x3F800000})
    assert run(memory, [call])[0].digest != first
    memory.set_registers({EPS_REGISTER: EPS})
    assert run(memory, [call])[0].digest == first


def test_refused_instructions_can_commit(memory: MappedMemory, tmp_path: Path) -> None:
    """They write nothing, carry the cause, and the others run as if they were not there."""
    good = layer(SMALL, False)
    want = run(memory, good)
    after = memory.view("ddr", 0, 1 << 20).copy()
    bad = [
        replace(good[0], fields={**good[0].fields, "norm_win": 0}),
        replace(good[1], fields={**good[1].fields, "mvm_hin": 2}),
        replace(good[2], fields={**good[2].fields, "sfu_start": 0x11}),
        replace(good[3], fields={**good[3].fields, "mvm_in_addr": 0x20}),
        replace(good[4], fields={**good[4].fields, "elementwise_out_addr": 0xFFFFFFC0}),
    ]
    mixed = [call for pair in zip(good, bad, strict=True) for call in pair]
    commits = run(memory, mixed, commit_refused=True)
    assert [c.error for c in commits] == [0, 2, 0, 7, 0, 1, 0, 3, 0, 4]
    assert [(c.digest, c.error) for c in commits[0::2]] == [(c.digest, 0) for c in want]
    assert all((c.digest, c.bytes_written, c.result) == (0, 0, None) for c in commits[1::2])
    assert np.array_equal(memory.view("ddr", 0, 1 << 20), after)
    with pytest.raises(
        DeviceError,
        match=r"instruction 1 \(norm\): illegal: norm_pixels: 5, expected 0; norm_win: 0, expected 1 to 512 \(MaxToken\)",
    ):
        run(memory, mixed)
    trace = Trace("iss", "0" * 64, commits=commits, complete=True)
    trace.save(tmp_path / "trace.npz")
    assert Trace.load(tmp_path / "trace.npz").commits[1].error == 2


class Stub(Instruction):
    """Nothing but what the contract gives."""

    name = "stub"
    execute = legal = reads = writes = cost = classmethod(lambda cls, *_: [])  # pyright: ignore


def test_a_set_with_one_cause_has_a_refusal_too() -> None:
    """The contract's own: what `legal` says, as cause 1."""

    class One(Stub):
        @classmethod
        def legal(cls, device: Device, fields: Mapping[str, int]) -> Sequence[str]:
            return ["a: wrong", "b: wrong"] if fields else []

    assert One.refusal(SMALL, {"a": 1}) == (1, "a: wrong; b: wrong")
    assert One.refusal(SMALL, {}) is None


@pytest.mark.parametrize("grouped", [False, True])
def test_a_stray_write_among_many_is_found(memory: MappedMemory, grouped: bool) -> None:
    """One of 64 pieces one byte too far, or one of the distances: beside its destination, though inside the hull."""
    o = operands_of.dat2hbm(False, 64, 1, T, 3, X, T * 64, 0, 0x2000, 0, 64)
    real = INSTRUCTIONS["dat2hbm"]

    class Stray(real):
        @classmethod
        def execute(cls, device: Device, fields: Mapping[str, int], memory: Memory) -> Sequence[Write]:
            writes = list(super().execute(device, fields, memory))
            assert len(writes) == 8, "one a port"
            if grouped:
                writes[5] = replace(writes[5], strides=(writes[5].strides[0], 65))
                return writes
            writes = contiguous(writes)
            writes[45] = replace(writes[45], offset=writes[45].offset + 1)
            return writes

    odd = replace(SET, instructions={**SET.instructions, "dat2hbm": Stray})
    start = 0x2006 + 64 + 1 if grouped else 0x2006 + 5 * 64 + 1
    where = f"[{start:#x}, {start + 2 * T:#x}) of hbm bank 5 outside its destination"
    with pytest.raises(ComparisonFailure, match=re.escape(f"writes bytes {where}")):
        list(execute_calls(odd, SMALL, memory, [Call("dat2hbm", o.encode())], 0))


def test_spaces_of_a_mapped_memory(tmp_path: Path) -> None:
    memory = MappedMemory(SMALL, tmp_path)
    assert memory.view("onchip", 0, 2 * HALF).size == 2 * HALF
    assert sorted(p.name for p in tmp_path.iterdir()) == ["ddr.bin", *(f"hbm_{p}.bin" for p in range(8))]
    with pytest.raises(DeviceError, match="leave 'onchip'"):
        memory.view("onchip", HALF, HALF + 1)
    memory.set_registers({8: 0xFFFFFFFF})
    assert memory.view("reg", 4, 12).tolist() == [0] * 4 + [255] * 4 + [0] * 4
    without = replace(SMALL, parameters={"HbmPorts": 1}, arrays={})
    with pytest.raises(DeviceError, match="no memory 'onchip'"):
        MappedMemory(without, tmp_path / "other").view("onchip", 0, 1)
