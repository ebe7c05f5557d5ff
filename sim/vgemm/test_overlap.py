"""vgemm's modules do overlap when the hardware fetches a binary, only tokens keep them apart, and the simulation shows both."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

import numpy as np
import pytest

from fleet.isa.registry import find_device
from fleet.sdk import Call, Device
from fleet.sets.vgemm.lower import emit
from fleet.sets.vgemm.lower.schedule import synchronised
from fleet.sets.vgemm.operands import AluOp, LoadOperands, MemoryType
from fleet.sets.vgemm.shapes import OPERANDS
from fleet.streams.case import Setting, StreamCase
from fleet.streams.run import StreamRunner
from fleet.verify.conformance.suite import make_case

DEVICE = "vgemm_small"
AUX = Setting("ideal", "aux")


@pytest.fixture(scope="module")
def runner() -> Iterator[StreamRunner]:
    with StreamRunner(DEVICE) as running:
        yield running


def pipeline(device: Device, tiles: int) -> StreamCase:
    """Loads, products and stores of tiles in two halves of the scratchpads."""
    uops, rng = emit.Uops(), np.random.default_rng(0)
    work = []
    for t in range(tiles):
        half = 64 * (t % 2)
        work += [
            emit.load(device, MemoryType.INP, half, 256 * t, 1, 64),
            emit.load(device, MemoryType.WGT, half, 0x10000 + 1024 * t, 1, 64),
            emit.gemm(device, uops, [(half, 0, 0)], (1, 64), (0, 1), reset=True),
            emit.gemm(device, uops, [(half, half, half)], (8, 64), (0, 1), (0, 1), (0, 1)),
            emit.alu(device, uops, [(half, half, 0)], AluOp.SHR, (1, 64), (0, 1), (0, 1), 3),
            emit.store(device, MemoryType.OUT, half, 0x40000 + 256 * t, 1, 64),
        ]
    words = emit.uop_bytes(uops.words)
    first = emit.load(device, MemoryType.UOP, 0, 0x80000, 1, len(uops.words))
    data = rng.integers(0, 256, 0x10000 + 1024 * tiles, dtype=np.uint8)
    case = make_case(f"{DEVICE}/finish/directed/0")
    blocks = (replace(case.blocks[0], offset=0, data=data), replace(case.blocks[0], offset=0x80000, data=words))
    return replace(case, name="pipeline", calls=tuple(synchronised([emit.finish(), first, *work])), blocks=blocks, causes=None)


def test_fetched_tiles_overlap(runner: StreamRunner) -> None:
    case = pipeline(find_device(DEVICE)[1], 8)
    one, other = runner.run(case, [Setting("ideal"), AUX])
    assert one.passed, one.reasons
    assert other.passed, other.reasons
    alone = sum(c.end - c.start for c in one.found if c.start is not None and c.end is not None)
    assert other.cycles < 0.75 * alone, "a third of the cycles at least is saved"


def without(call: Call, flag: str) -> Call:
    name = call.instruction
    if name == "finish":
        return call
    return replace(call, fields=replace(OPERANDS[name].decode(call.fields), **{flag: False}).encode())


def shared(device: Device, tiles: int) -> StreamCase:
    """Products of inputs that are loaded to one and the same place, so that each load and each product waits for the other."""
    case, uops = pipeline(device, tiles), emit.Uops()
    work = [emit.load(device, MemoryType.WGT, 0, 0x10000, 1, 64), emit.load(device, MemoryType.ACC, 0, 0, 1, 64)]
    for t in range(tiles):
        work.append(emit.load(device, MemoryType.INP, 0, 256 * t, 1, 64))
        work.append(emit.gemm(device, uops, [(0, 0, 0)], (2, 64), (0, 1), (0, 1), (0, 1)))
    words = replace(case.blocks[1], data=emit.uop_bytes(uops.words))
    first = emit.load(device, MemoryType.UOP, 0, 0x80000, 1, len(uops.words))
    calls = synchronised([emit.finish(), first, *work, emit.store(device, MemoryType.ACC, 0, 0x40000, 1, 64)])
    return replace(case, calls=tuple(calls), blocks=(case.blocks[0], words))


@pytest.mark.parametrize(("module", "flag"), [("gemm", "pop_prev"), ("load", "pop_next")])
def test_a_missing_token_is_found(runner: StreamRunner, module: str, flag: str) -> None:
    """Without one kind of wait the bits are others: the tokens are needed, and the comparison sees that they are not there.

    A store needs no token to be right here: it begins when all that stands before it has committed.
    """
    case = shared(find_device(DEVICE)[1], 8)
    fetched = [AUX, Setting("fixed:90", "aux")]
    assert all(o.passed for o in runner.run(case, fetched))
    broken = replace(case, calls=tuple(without(c, flag) if c.instruction == module else c for c in case.calls))
    assert broken.calls != case.calls
    (in_order,) = runner.run(broken)
    assert in_order.passed, "one after the other needs no tokens"
    assert any(not o.passed for o in runner.run(broken, fetched))


@pytest.mark.parametrize(("module", "flag"), [("load", "push_next"), ("gemm", "push_prev")])
def test_a_finish_empties_the_queues(runner: StreamRunner, module: str, flag: str) -> None:
    """Tokens that nothing took before a FINISH let nothing begin too early behind it."""
    case = shared(find_device(DEVICE)[1], 8)
    alone = [without(without(c, "pop_prev"), "pop_next") for c in case.calls if c.instruction == module]
    pushed = [replace(c, fields=replace(OPERANDS[module].decode(c.fields), **{flag: True}).encode()) for c in alone]
    finish = case.calls[0]
    assert finish.instruction == "finish"
    for outcome in runner.run(replace(case, calls=(*case.calls, finish, *pushed, *case.calls)), [AUX, Setting("fixed:90", "aux")]):
        assert outcome.passed, outcome.reasons


def test_a_pop_that_nobody_pushed_for_waits_for_nothing(runner: StreamRunner) -> None:
    case = make_case(f"{DEVICE}/load/directed/6")
    name = case.calls[-1].instruction
    body = replace(LoadOperands.decode(case.calls[-1].fields), pop_next=True, push_next=True)
    assert body.memory_type == MemoryType.INP
    calls = (*case.calls[:-1], *[Call(name, body.encode())] * 70)  # more tokens than the queue holds
    for outcome in runner.run(replace(case, calls=calls, causes=None), [Setting("ideal"), AUX]):
        assert outcome.passed, outcome.reasons
