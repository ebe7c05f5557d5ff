"""Instructions at their limits and one step beyond, on hardware and functional model: ends of scratchpads, shifts by the width."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from fleet.isa.registry import find_device
from fleet.sdk import Call
from fleet.sets.vgemm.lower import emit
from fleet.sets.vgemm.operands import AluOp, AluOperands, FinishOperands, LoadOperands, MemoryType
from fleet.streams.run import StreamRunner
from fleet.verify.conformance.suite import make_case

NAME = "vgemm_small"
SET, DEVICE = find_device(NAME)
DEPTHS = {MemoryType.UOP: "UopDepth", MemoryType.WGT: "WgtDepth", MemoryType.INP: "InpDepth", MemoryType.ACC: "AccDepth"}
OUT_OF_RANGE = 4


def load(kind: MemoryType, base: int, address: int = 0, columns: int = 2, pads: tuple[int, int] = (0, 0)) -> Call:
    operands = LoadOperands(
        memory_type=kind, sram_base=base, address=address, y_size=1, x_size=columns, x_stride=columns, x_pad_before=pads[0],
        x_pad_after=pads[1],
    )  # fmt: skip
    return Call("load", operands.encode())


def test_a_tile_may_end_at_the_end_and_no_element_further() -> None:
    calls, causes = [Call("finish", FinishOperands().encode())], [0]
    for kind, depth in DEPTHS.items():
        end = DEVICE.parameters[depth]
        for call, cause in (
            (load(kind, end - 2), 0),
            (load(kind, end - 1), OUT_OF_RANGE),
            (load(kind, end - 4, pads=(1, 1)), 0),
            (load(kind, end - 3, pads=(1, 1)), OUT_OF_RANGE),
        ):
            calls.append(call)
            causes.append(cause)
    base = make_case(f"{NAME}/finish/directed/0")
    case = replace(base, name="ends of scratchpads", calls=tuple(calls), causes=tuple(causes))
    with StreamRunner(NAME) as runner:
        (outcome,) = runner.run(case)
    assert outcome.passed, outcome.reasons


@pytest.mark.parametrize("distance", [-33, -32, -31, 31, 32, 33])
def test_shifts_at_the_width(distance: int) -> None:
    data = np.array([1, -1, 1 << 30, -(1 << 31)], "<i4").view(np.uint8)
    base = make_case(f"{NAME}/finish/directed/0")
    uop = np.zeros(4, np.uint8)
    blocks = (replace(base.blocks[0], offset=0, data=data), replace(base.blocks[0], offset=64, data=uop))
    shift = AluOperands(uop_begin=0, uop_end=1, iter_out=1, iter_in=1, op=AluOp.SHR, use_imm=True, imm=distance)
    calls = (
        Call("finish", FinishOperands().encode()),
        load(MemoryType.ACC, 0, 0, 1),
        load(MemoryType.UOP, 0, 64, 1),
        Call("alu", shift.encode()),
    )
    with StreamRunner(NAME) as runner:
        (outcome,) = runner.run(replace(base, name=f"shift by {distance}", calls=calls, blocks=blocks, causes=None))
        expected = runner.expected.memory.view("acc", 0, 16).view("<i4").tolist()
    assert outcome.passed, outcome.reasons
    assert expected == [_shifted(v, distance) for v in (1, -1, 1 << 30, -(1 << 31))]


def test_operations_of_odd_numbers() -> None:
    """Each with each: powers of two and their neighbours, so that a comparison or distance of fewer bits is seen."""
    powers = [(sign << k) + d for k in range(32) for sign in (1, -1) for d in (-1, 0, 1)]
    numbers = np.array(sorted({p for p in powers if -(1 << 31) <= p < 1 << 31}), np.int64)
    pairs = np.array([(a, b) for b in numbers for a in (1, -1, (1 << 31) - 1, -(1 << 31), 0x1234567, -0x7654321)], np.int64)
    block = DEVICE.parameters["Block"]
    pairs = np.resize(pairs, (-(-len(pairs) // block) * block, 2)).astype("<i4")
    count, base = len(pairs) // block, make_case(f"{NAME}/finish/directed/0")
    data = np.concatenate([pairs[:, 0], pairs[:, 1]]).view(np.uint8)
    uop = emit.uop_bytes([(0, count, 0)])
    blocks = (replace(base.blocks[0], offset=0, data=data), replace(base.blocks[0], offset=1 << 16, data=uop))
    calls = [Call("finish", FinishOperands().encode()), load(MemoryType.UOP, 0, 1 << 16, 1)]
    for op in AluOp:
        each = AluOperands(uop_begin=0, uop_end=1, iter_out=1, iter_in=count, op=op, dst_in=1, src_in=1)
        calls += [load(MemoryType.ACC, 0, 0, 2 * count), Call("alu", each.encode())]
    with StreamRunner(NAME) as runner:
        (outcome,) = runner.run(replace(base, name="odd numbers", calls=tuple(calls), blocks=blocks, causes=None))
    assert outcome.passed, outcome.reasons


def _shifted(value: int, by: int) -> int:
    """The text of docs/vgemm.md in Python's integers."""
    if by >= 0:
        return value >> min(by, 31)
    left = (value << -by) & 0xFFFFFFFF if by > -32 else 0
    return left - (left >> 31 << 32)
