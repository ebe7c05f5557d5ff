"""Binaries that vgemm refuses, and starts at the wrong time: what is committed, what the registers say, and that it goes on."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np
import pytest

from fleet.engines.rtl_sim.job import JobScript, read_results
from fleet.engines.rtl_sim.records import CommitRecord, read_records
from fleet.isa.codec_binary import encode_binary
from fleet.sdk import Call
from fleet.sets.vgemm.operands import FinishOperands, LoadOperands, MemoryType
from fleet.streams.case import Setting
from fleet.streams.run import StreamRunner

# Typed in from the description: byte addresses, opcodes, causes.
CMD_W0, CMD_START, CMD_STATUS = 0x10, 0x20, 0x24
ADDRESS, BEATS, TASKS, RUN, RUN_STATUS = 0x30, 0x34, 0x38, 0x3C, 0x40
IRQ_ENABLE, IRQ_STATUS, CAUSE = 0x50, 0x54, 0x58
LOAD, FINISH, BINARY = 1, 5, 0x10
ILLEGAL, SIZE, UNALIGNED, RANGE, BUSY, BAD_BINARY = 1, 2, 3, 4, 5, 7
PLACE = 0x1_0000

CALL = Call("load", LoadOperands(memory_type=MemoryType.INP, sram_base=3, address=0, y_size=2, x_size=5, x_stride=7).encode())


@pytest.fixture(scope="module")
def runner() -> Iterator[StreamRunner]:
    with StreamRunner("vgemm_small") as running:
        yield running


def begin(script: JobScript, at: int, beats: int, tasks: int, mode: int = 1) -> None:
    for register, value in ((ADDRESS, at), (BEATS, beats), (TASKS, tasks)):
        script.write(register, value)
    script.write(RUN, mode, fetch=True)


def start(script: JobScript, call: Call) -> None:
    values = list(call.fields.values())
    for i, word in enumerate(values[:4]):
        script.write(CMD_W0 + 4 * i, word)
    script.write(CMD_START, values[4], start=True)


def play(runner: StreamRunner, script: JobScript, data: bytes, memory: str) -> tuple[list[CommitRecord], list[int]]:
    runner.found.fill(())
    runner.found.memory.view("ddr", PLACE, len(data))[:] = np.frombuffer(data, np.uint8)
    _, job = runner.play(script, Setting(memory))
    return read_records(job.trace), [int(v) for v in read_results(job.results)]


BINARIES: Mapping[str, tuple[int, int, Mapping[str, Any]]] = {
    "no tasks": (SIZE, 0, {"tasks": 0}),
    "a start value that is none": (ILLEGAL, 0, {"mode": 2}),
    "an address that is no beat's": (UNALIGNED, 0, {"at": PLACE + 32}),
    "beyond the memory": (RANGE, 0, {"beats": 1 << 20}),
    "far beyond the memory": (RANGE, 0, {"beats": 0xFFFF_FFFF}),
    "no beats": (BAD_BINARY, 0, {"beats": 0}),
    "an opcode that is none": (BAD_BINARY, 2, {"byte": (2, 9)}),
    "an empty task": (BAD_BINARY, 1, {"byte": (1, 0)}),
    "more than 32 tasks in a block": (BAD_BINARY, 0, {"byte": (32, 1)}),
    "an opcode with the start value of another": (BAD_BINARY, 3, {"byte": (3, 5)}),
    "cut short": (BAD_BINARY, 3, {"beats": 4}),
    "more tasks than there are": (BAD_BINARY, 40, {"tasks": 41}),
}


@pytest.mark.parametrize("memory", ["ideal", "stall"])
@pytest.mark.parametrize("name", BINARIES)
def test_a_bad_binary_stops_at_its_bad_task(runner: StreamRunner, name: str, memory: str) -> None:
    cause, done, change = BINARIES[name]
    data = bytearray(encode_binary(runner.set, [CALL] * 40))
    if "byte" in change:
        place, value = change["byte"]
        data[place] = value
    script = JobScript()
    script.write(IRQ_ENABLE, 1)
    beats = change.get("beats", len(data) // 64)
    begin(script, change.get("at", PLACE), beats, change.get("tasks", 40), change.get("mode", 1))
    script.poll(RUN_STATUS, 1, 1)
    for register in (IRQ_STATUS, CAUSE, CMD_STATUS):
        script.read(register)
    script.write(IRQ_STATUS, 3)
    start(script, CALL)
    script.wait_irq(100_000)
    records, reads = play(runner, script, bytes(data), memory)
    assert [(r.opcode, r.error) for r in records] == [(LOAD, 0)] * done + [(BINARY, cause), (LOAD, 0)]
    assert reads == [2, cause, 1], "the error interrupt and no other; everything is idle"
    assert records[done].digest == 0
    assert {r.digest for r in records if not r.error} == {records[-1].digest}


@pytest.mark.parametrize("bad", [0, 1, 5])
def test_an_illegal_task_ends_the_run(runner: StreamRunner, bad: int) -> None:
    """What stands before it commits, what stands behind it does not; no done interrupt."""
    data = bytearray(encode_binary(runner.set, [CALL] * 8))
    data[64 * (1 + bad) + 8] = 0  # no rows
    script = JobScript()
    script.write(IRQ_ENABLE, 2)
    begin(script, PLACE, len(data) // 64, 8)
    script.wait_irq(100_000)
    script.poll(RUN_STATUS, 1, 1)
    for register in (IRQ_STATUS, CAUSE, CMD_STATUS):
        script.read(register)
    records, reads = play(runner, script, bytes(data), "stall")
    assert [(r.opcode, r.error) for r in records] == [(LOAD, 0)] * bad + [(LOAD, SIZE)]
    assert reads == [2, SIZE, 1]


def test_one_interrupt_at_the_end_of_a_run(runner: StreamRunner) -> None:
    calls = [Call("finish", FinishOperands().encode()), *[CALL] * 33, Call("finish", FinishOperands().encode())]
    data = encode_binary(runner.set, calls)
    script = JobScript()
    script.write(IRQ_ENABLE, 3)
    begin(script, PLACE, len(data) // 64, len(calls))
    script.read(RUN_STATUS)
    script.wait_irq(100_000)
    for register in (IRQ_STATUS, RUN_STATUS, CMD_STATUS):
        script.read(register)
    records, reads = play(runner, script, data, "stall")
    assert [r.opcode for r in records] == [FINISH, *[LOAD] * 33, FINISH]
    assert reads == [0, 1, 1, 1]


@pytest.mark.parametrize("what", ["an instruction", "a binary"])
def test_a_start_while_a_binary_runs_is_refused(runner: StreamRunner, what: str) -> None:
    data = encode_binary(runner.set, [CALL] * 40)
    script = JobScript()
    script.write(IRQ_ENABLE, 2)
    begin(script, PLACE, len(data) // 64, 40)
    if what == "a binary":
        script.write(RUN, 1, fetch=True)
    else:
        start(script, CALL)
    script.wait_irq(100_000)
    script.poll(RUN_STATUS, 1, 1)
    script.poll(CMD_STATUS, 1, 1)
    script.read(CAUSE)
    records, reads = play(runner, script, data, "ideal")
    opcode = LOAD if what == "an instruction" else BINARY
    assert [(r.opcode, r.error) for r in records if r.error] == [(opcode, BUSY)]
    assert reads == [BUSY]


@pytest.mark.parametrize("late", [False, True])
def test_starts_that_are_not_waited_for_commit_in_order(runner: StreamRunner, late: bool) -> None:
    """The registers feed the same queues as a binary; behind a FINISH that waits, a start is refused."""
    script = JobScript()
    script.write(IRQ_ENABLE, 3)
    calls = [CALL, CALL, Call("finish", FinishOperands().encode()), *([CALL] if late else [])]
    for call in calls:
        start(script, call)
    script.poll(CMD_STATUS, 1, 1)
    script.read(IRQ_STATUS)
    records, reads = play(runner, script, b"\0" * 64, "fixed:200")
    assert [(r.opcode, r.error) for r in records] == [(LOAD, 0), (LOAD, 0), (FINISH, 0), *([(LOAD, BUSY)] if late else [])]
    assert reads == [3 if late else 1]
