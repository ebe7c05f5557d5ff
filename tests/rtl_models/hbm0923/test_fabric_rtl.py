"""Dispatcher, binaries, wt2hbm and the on-chip memory in the whole design, with the MVM unit's instructions."""

from __future__ import annotations

import struct
from dataclasses import replace
from itertools import pairwise

import numpy as np
import pytest
from mvm_random import ERR_CAUSE, IRQ_EN, IRQ_STAT, OPCODES, STATUS, Case, Place, Runner, compare, prepare, random_case, start

from fleet.engines.rtl_sim.job import JobScript
from fleet.isa.digest import DDR, HBM_PORT_0, digest, space_number
from fleet.sdk import Write
from fleet.sets.hbm0923.mvm_operands import FIELDS, MvmFields

AUX_STATUS, AUX_START, COMMITS, TASKS_DONE, RESULT = 4 * 64, 4 * 73, 4 * 237, 4 * 238, 4 * 40
SIZE, UNALIGNED, RANGE, BUSY, UNSUPPORTED, BAD_BINARY = 2, 3, 4, 5, 7, 8
MODE, AUX_RUN, WT2HBM = 1, 0x21, 0x20
HALF = 64 * 1024  # bytes of half of the on-chip memory
MEMORIES = ["ideal", "fixed:37", "stall:3"]
CASE = Case(chin=96, chout=40, tokens=3, tblk=32, bn=True, residual=True, argmax=True)


def words(fields: dict[str, int]) -> list[int]:
    return [fields[name] for name in FIELDS]


def binary(tasks: list[tuple[int, list[int]]]) -> bytes:
    """Blocks of at most 32 tasks: a beat of cfg_ids, whole beats of words, zeros up to 65 beats."""
    blocks = b""
    for i in range(0, len(tasks), 32):
        part = tasks[i : i + 32]
        block = bytes(cfg_id for cfg_id, _ in part).ljust(64, b"\0")
        for _, values in part:
            data = struct.pack(f"<{len(values)}I", *values)
            block += data.ljust(-(-len(data) // 64) * 64, b"\0")
        blocks += block.ljust(65 * 64, b"\0")
    return blocks


def run_binary(script: JobScript, address: int, beats: int, tasks: int) -> None:
    for register, value in ((65, address), (66, beats), (67, tasks), (73, 1)):
        script.write(4 * register, value)


def model(runner: Runner, case: Case, o: MvmFields) -> list[Write]:
    """The functional model's writes, made in memory too."""
    instruction = runner.set.instructions[case.instruction]
    fields = o.encode(runner.device)
    assert not instruction.legal(runner.device, fields)
    return list(instruction.execute(runner.device, fields, runner.memory))


def digest_of(writes: list[Write], space: int = DDR, shift: int = 0) -> int:
    return sum(digest(space, w.offset + shift, w.data) for w in writes if w.space == "ddr") % 2**64


def result_of(writes: list[Write]) -> int | None:
    found = [int(w.data.view("<u4")[0]) for w in writes if w.space == "reg"]
    return found[0] if found else None


@pytest.mark.parametrize("memory", MEMORIES)
def test_a_binary_of_several_blocks_runs_in_order(small: Runner, memory: str) -> None:
    rng = np.random.default_rng(21)
    place = Place()
    cases = [random_case(small.device, rng) for _ in range(6)] + [CASE] * 64
    operands = [prepare(small.device, small.memory, c, place, rng) for c in cases]
    tasks = [(OPCODES[c.instruction], words(o.encode(small.device))) for c, o in zip(cases, operands, strict=True)]
    data = binary(tasks)
    at = place.take(len(data), rng)
    small.memory.view("ddr", at, len(data))[:] = np.frombuffer(data, np.uint8)
    writes = [model(small, c, o) for c, o in zip(cases, operands, strict=True)]
    script = JobScript()
    script.write(IRQ_EN, 3)
    run_binary(script, at, len(data) // 64, len(tasks))
    script.read(AUX_STATUS)
    script.wait_irq(1_000_000)
    for register in (IRQ_STAT, AUX_STATUS, TASKS_DONE, COMMITS, RESULT):
        script.read(register)
    _, records, reads = small.play(script, memory)
    assert [(r.opcode, r.error) for r in records] == [(OPCODES[c.instruction], 0) for c in cases]
    assert [r.digest for r in records] == [digest_of(w) for w in writes]
    assert [r.result for r in records] == [result_of(w) for w in writes]
    # One interrupt, at the end; the fetch itself commits nothing.
    assert reads == [0, 1, 1, len(tasks), len(tasks), records[-1].result]
    for r in records:
        assert sum(r.cycles.values()) == r.end - r.start


REFUSED_RUNS = {
    "no tasks": (SIZE, {"tasks": 0}),
    "an address that is no beat's": (UNALIGNED, {"shift": 32}),
    "beyond the memory": (RANGE, {"beats": 1 << 20}),
    "far beyond the memory": (RANGE, {"beats": 0xFFFFFFFF}),
    "no beats": (BAD_BINARY, {"beats": 0}),
    "a cfg_id that is none": (BAD_BINARY, {"ids": {2: 0x09}, "done": 2}),
    "an empty task": (BAD_BINARY, {"ids": {1: 0}, "done": 1}),
    "more than 32 tasks in a block": (BAD_BINARY, {"ids": {32: 8}}),
    "a cfg_id with the start value of another": (BAD_BINARY, {"ids": {3: 0x08}, "done": 3}),
    "cut short in the third task": (BAD_BINARY, {"beats": 6, "done": 2}),
    "cut short after the third task": (BAD_BINARY, {"beats": 7, "done": 3}),
    "more tasks than there are": (BAD_BINARY, {"tasks": 9, "done": 4}),
    "more tasks than blocks": (BAD_BINARY, {"tasks": 33, "count": 32, "done": 32}),
}


@pytest.mark.parametrize("name", REFUSED_RUNS)
def test_a_bad_binary_stops_at_its_bad_task(small: Runner, name: str) -> None:
    cause, change = REFUSED_RUNS[name]
    rng = np.random.default_rng(22)
    place = Place()
    operands = [prepare(small.device, small.memory, CASE, place, rng) for _ in range(change.get("count", 4))]
    data = bytearray(binary([(OPCODES["mvm_bn_res"], words(o.encode(small.device))) for o in operands]))
    for slot, cfg_id in change.get("ids", {}).items():
        data[slot] = cfg_id
    at = place.take(len(data), rng)
    small.memory.view("ddr", at, len(data))[:] = np.frombuffer(bytes(data), np.uint8)
    done = change.get("done", 0)
    expected = [digest_of(model(small, CASE, o)) for o in operands[:done]]
    script = JobScript()
    script.write(IRQ_EN, 1)
    run_binary(script, at + change.get("shift", 0), change.get("beats", len(data) // 64), change.get("tasks", len(operands)))
    script.wait_irq(100_000)
    for register in (IRQ_STAT, AUX_STATUS, TASKS_DONE, ERR_CAUSE, ERR_CAUSE + 4):
        script.read(register)
    script.write(IRQ_STAT, 3)
    start(script, operands[0].encode(small.device))  # and the design goes on
    _, records, reads = small.play(script, "stall:4")
    assert [(r.opcode, r.error) for r in records[:-1]] == [(OPCODES["mvm_bn_res"], 0)] * done + [(AUX_RUN, cause)]
    assert [r.digest for r in records[:-1]] == [*expected, 0]
    assert reads == [3, 1, done, cause, AUX_RUN]
    assert sum(records[done].cycles.values()) == records[done].end - records[done].start
    assert (records[-1].error, records[-1].digest) == (0, digest_of(model(small, CASE, operands[0])))


@pytest.mark.parametrize("bad", [0, 1, 3])
def test_a_refused_task_ends_the_run(small: Runner, bad: int) -> None:
    rng = np.random.default_rng(23)
    place = Place()
    operands = [prepare(small.device, small.memory, CASE, place, rng) for _ in range(4)]
    fields = [o.encode(small.device) for o in operands]
    fields[bad] = fields[bad] | {"mvm_win": 0}
    data = binary([(OPCODES["mvm_bn_res"], words(f)) for f in fields])
    at = place.take(len(data), rng)
    small.memory.view("ddr", at, len(data))[:] = np.frombuffer(data, np.uint8)
    script = JobScript()
    script.write(IRQ_EN, 1)
    run_binary(script, at, len(data) // 64, 4)
    script.wait_irq(100_000)
    for register in (IRQ_STAT, ERR_CAUSE, ERR_CAUSE + 4, TASKS_DONE):
        script.read(register)
    _, records, reads = small.play(script)
    assert [r.error for r in records] == [0] * bad + [SIZE]
    assert reads == [3, SIZE, OPCODES["mvm_bn_res"], bad + 1]


def test_register_starts_during_a_run_are_refused(small: Runner) -> None:
    rng = np.random.default_rng(24)
    place = Place()
    o = prepare(small.device, small.memory, CASE, place, rng)
    data = binary([(OPCODES["mvm_bn_res"], words(o.encode(small.device)))] * 3)
    at = place.take(len(data), rng)
    small.memory.view("ddr", at, len(data))[:] = np.frombuffer(data, np.uint8)
    script = JobScript()
    script.write(IRQ_EN, 1)
    run_binary(script, at, len(data) // 64, 3)
    starts = {33: (0x11F, 8), 209: (0x20, 7), 142: (1, 1), 73: (1, AUX_RUN)}
    for register, (value, _) in starts.items():
        script.write(4 * register, value)
        script.read(ERR_CAUSE)
        script.read(ERR_CAUSE + 4)
    script.wait_irq(100_000)
    script.read(TASKS_DONE)
    _, records, reads = small.play(script, "fixed:300")
    assert reads == [v for _, opcode in starts.values() for v in (BUSY, opcode)] + [3]
    assert [r.error for r in records] == [0] * 3
    assert {r.digest for r in records} == {digest_of(model(small, CASE, o))}


def copy_weights(script: JobScript, source: int, target: int, bits: int, port: int, *, high: int = 0, mode: int = 2) -> None:
    for register, value in ((68, source), (69, target), (70, high), (71, bits), (72, port)):
        script.write(4 * register, value)
    script.write(AUX_START, mode, start=True)


@pytest.mark.parametrize("memory", MEMORIES)
@pytest.mark.parametrize("size", [1, 32, 33, 64, 1056, 4160, 10016])
def test_wt2hbm_copies_bytes(small: Runner, memory: str, size: int) -> None:
    rng = np.random.default_rng(size)
    port, source, target = 5, 0x10FC0, 0x7F20
    data = rng.integers(0, 256, size, dtype=np.uint8)
    small.memory.view("ddr", source, size)[:] = data
    bank = small.memory.view("hbm", 0, 1 << 16, bank=port)
    bank[:] = rng.integers(0, 256, bank.size, dtype=np.uint8)
    expected = bank.copy()
    expected[target : target + size] = data
    script = JobScript()
    script.write(IRQ_EN, 1)
    copy_weights(script, source, target, 8 * size, port)
    script.wait_irq(100_000)
    script.read(AUX_STATUS)
    _, records, reads = small.play(script, memory)
    (r,) = records
    assert (r.opcode, r.error, r.bytes_written, reads) == (WT2HBM, 0, size, [1])
    assert r.digest == digest(HBM_PORT_0 + port, target, data)
    assert (bank == expected).all()
    assert sum(r.cycles.values()) == r.end - r.start


def test_wt2hbm_refusals(small: Runner) -> None:
    good = {"source": 0x1000, "target": 0x40, "bits": 256, "port": 0}
    refused = [
        ({"port": 8}, SIZE),
        ({"bits": 0}, SIZE),
        ({"bits": 4}, SIZE),
        ({"source": 32}, UNALIGNED),
        ({"target": 16}, UNALIGNED),
        ({"source": 64 << 20}, RANGE),
        ({"target": 4 << 20}, RANGE),
        ({"bits": 0xFFFFFFF8}, RANGE),
        ({"high": 1, "bits": 0}, UNSUPPORTED),
        ({"mode": 3, "high": 1}, MODE),
        ({"mode": 0}, MODE),
    ]
    script = JobScript()
    script.write(IRQ_EN, 2)
    for change, _ in refused:
        copy_weights(script, **(good | change))  # type: ignore[arg-type]
        script.wait_irq(1000)
        script.write(IRQ_STAT, 3)
    _, records, _ = small.play(script)
    assert [r.error for r in records] == [cause for _, cause in refused]
    assert all(r.bytes_written == 0 for r in records)
    assert [r.opcode for r in records] == [WT2HBM] * 9 + [0] * 2


@pytest.mark.parametrize("memory", MEMORIES)
def test_two_instructions_overlap_and_commit_in_order(small: Runner, memory: str) -> None:
    """A copy that an MVM must wait for (its weights), one that it need not, and one that is younger than the MVM."""
    rng = np.random.default_rng(25)
    place = Place()
    o = prepare(small.device, small.memory, CASE, place, rng)
    size = 8192
    source = place.take(size, rng)
    stored = small.memory.view("hbm", o.weights, size, bank=2).copy()
    small.memory.view("ddr", source, size)[:] = stored
    small.memory.view("hbm", o.weights, size, bank=2)[:] = 0
    # The model sees the weights where the copy puts them.
    small.memory.view("hbm", o.weights, size, bank=2)[:] = stored
    expected = digest_of(model(small, CASE, o))
    small.memory.view("hbm", o.weights, size, bank=2)[:] = 0
    away = 1 << 20
    fields = o.encode(small.device)
    script = JobScript()
    script.write(IRQ_EN, 3)
    for number, name in enumerate(FIELDS[:-1], start=2):
        script.write(4 * number, fields[name])
    for target in (o.weights, away):
        copy_weights(script, source, target, 8 * size, 2)
        script.write(4 * 33, fields["mvm_start"], start=True)
        script.write(4 * 142, 1)  # a third one is refused
        script.read(ERR_CAUSE)
        script.poll(STATUS, 1, 1)
    script.write(4 * 33, fields["mvm_start"], start=True)
    copy_weights(script, source, away, 8 * size, 2)
    script.poll(AUX_STATUS, 1, 1)
    script.read(COMMITS)
    script.read(IRQ_STAT)
    _, records, reads = small.play(script, memory)
    mvm = OPCODES["mvm_bn_res"]
    assert [(r.opcode, r.error) for r in records] == [(WT2HBM, 0), (mvm, 0), (WT2HBM, 0), (mvm, 0), (mvm, 0), (WT2HBM, 0)]
    assert reads == [BUSY, BUSY, 6, 3]
    assert [records[i].digest for i in (1, 3, 4)] == [expected] * 3
    for i, at in ((0, o.weights), (2, away), (5, away)):
        assert records[i].digest == digest(HBM_PORT_0 + 2, at, stored)
    for before, after in pairwise(records):
        assert before.end < after.end
    assert records[1].start < records[0].end, "the MVM did not start before the copy's end"
    for r in records:
        assert sum(r.cycles.values()) == r.end - r.start
    assert records[1].cycles["dependency"] > 0
    assert records[4].cycles["dependency"] == 0
    if memory.startswith("stall"):
        return
    # A younger MVM that depends on nothing has read and computed when its turn comes.
    assert records[3].end - records[2].end < records[1].end - records[0].end


@pytest.mark.parametrize("memory", MEMORIES)
def test_operands_on_chip(small: Runner, memory: str) -> None:
    """Product to the second half, then from there and with a residual from there to the first half, then from there to DDR."""
    rng = np.random.default_rng(26)
    place = Place()
    first = Case(chin=130, chout=64, tokens=5, tblk=128)
    second = Case(chin=64, chout=64, tokens=5, tblk=64, bn=True, residual=True, argmax=True)
    third = Case(chin=64, chout=40, tokens=5, tblk=32)
    o1, o2, o3 = (prepare(small.device, small.memory, c, place, rng) for c in (first, second, third))
    # In DDR for the model; on chip for the hardware, which finds rubbish in DDR.
    o2 = replace(o2, input=o1.output, residual=o1.output)
    o3 = replace(o3, input=o2.output)
    writes = []
    for case, o in ((first, o1), (second, o2), (third, o3)):
        writes.append(model(small, case, o))
        for w in writes[-1]:
            if w.space == "ddr":
                small.memory.view("ddr", w.offset, w.data.size)[:] = w.data.reshape(-1).view(np.uint8)
    expected = small.memory.view("ddr", o3.output, 2 * 5 * 64).copy()
    for o in (o1, o2, o3):
        small.memory.view("ddr", o.output, 2 * 5 * 64)[:] = 0xA5
    at1, at2 = HALF + 0xFC0, 0x40
    chip = {
        0: o1.encode(small.device) | {"mvm_out_addr": at1, "mvm_onchip": 2},
        1: o2.encode(small.device) | {"mvm_in_addr": at1, "mvm_res_addr": at1, "mvm_out_addr": at2, "mvm_onchip": 7},
        2: o3.encode(small.device) | {"mvm_in_addr": at2, "mvm_onchip": 1},
    }
    script = JobScript()
    script.write(IRQ_EN, 3)
    for fields in chip.values():
        start(script, fields)
    _, records, _ = small.play(script, memory)
    assert [r.error for r in records] == [0, 0, 0]
    onchip = space_number(small.device, "onchip")
    assert records[0].digest == digest_of(writes[0], onchip, at1 - o1.output)
    assert records[0].bytes_written == 2 * 5 * 64
    features = [w for w in writes[1] if w.offset < o2.output + 640 and w.offset >= o2.output]
    indices = [w for w in writes[1] if w not in features]
    assert records[1].digest == (digest_of(features, onchip, at2 - o2.output) + digest_of(indices)) % 2**64
    assert (small.memory.view("ddr", o3.output, expected.size) == expected).all()
    assert (small.memory.view("ddr", o1.output, 640) == 0xA5).all()


def test_on_chip_refusals(small: Runner) -> None:
    rng = np.random.default_rng(27)
    fields = prepare(small.device, small.memory, replace(CASE, argmax=False), Place(), rng).encode(small.device)
    size = 3 * 64 * 3
    refused = [
        ({"mvm_onchip": 1, "mvm_in_addr": 2 * HALF}, RANGE),
        ({"mvm_onchip": 1, "mvm_in_addr": 2 * HALF - size + 64}, RANGE),
        ({"mvm_onchip": 2, "mvm_out_addr": HALF - 64}, RANGE),  # from one half into the other
        ({"mvm_onchip": 3, "mvm_in_addr": 0, "mvm_out_addr": 0x4000}, RANGE),  # both in one half
        ({"mvm_onchip": 6, "mvm_res_addr": HALF, "mvm_out_addr": HALF + 0x4000}, RANGE),
        ({"mvm_onchip": 4, "mvm_start": 0x31F}, UNSUPPORTED),  # a residual that is not there
    ]
    legal = [
        {"mvm_onchip": 1, "mvm_in_addr": 2 * HALF - size},
        {"mvm_onchip": 3, "mvm_in_addr": 0, "mvm_out_addr": HALF},
        # The same numbers in two memories do not meet.
        {"mvm_onchip": 2, "mvm_in_addr": 0x4000, "mvm_out_addr": 0x4000},
    ]
    script = JobScript()
    script.write(IRQ_EN, 1)
    for change in [*(c for c, _ in refused), *legal]:
        start(script, fields | change)
    _, records, _ = small.play(script)
    assert [r.error for r in records] == [cause for _, cause in refused] + [0] * len(legal)


def test_starts_of_the_shared_registers_reach_their_unit(small: Runner) -> None:
    """Without operands all of them are refused, each under its own opcode."""
    script = JobScript()
    script.write(IRQ_EN, 2)
    starts = {1: 2, 2: 3, 4: 4, 8: 5, 16: 6, 32: 7, 64: 0x30, 3: 0, 0: 0}
    for value in starts:
        script.write(4 * 209, value, start=True)
        script.wait_irq(1000)
        script.write(IRQ_STAT, 3)
    _, records, _ = small.play(script)
    assert [r.opcode for r in records] == list(starts.values())
    assert all(r.error not in (0, BUSY) and r.bytes_written == 0 for r in records)
    assert [r.error for r in records[-2:]] == [MODE, MODE]


def test_a_reset_at_any_moment_leaves_nothing_behind(small: Runner) -> None:
    rng = np.random.default_rng(28)
    place = Place()
    o = prepare(small.device, small.memory, CASE, place, rng)
    data = binary([(OPCODES["mvm_bn_res"], words(o.encode(small.device)))] * 3)
    at = place.take(len(data), rng)
    small.memory.view("ddr", at, len(data))[:] = np.frombuffer(data, np.uint8)
    cut = 0
    for reads in range(0, 400, 13):  # the job ends, and the next one begins with a reset, in the middle of the run
        script = JobScript()
        run_binary(script, at, len(data) // 64, 3)
        for _ in range(reads):
            script.read(AUX_STATUS)
        _, records, _ = small.play(script, "stall:8")
        cut += len(records) < 3
    assert 5 < cut < 31
    compare(small, [CASE], 2, "stall:9")


def test_polls_and_interrupts_may_be_mixed(small: Runner) -> None:
    """Clearing what is pending loses no interrupt, whatever the cycle in which the next one comes."""
    rng = np.random.default_rng(29)
    o = prepare(small.device, small.memory, Case(chin=32, chout=8, tokens=1, tblk=32), Place(), rng)
    fields = o.encode(small.device)
    for delay in range(12):
        script = JobScript()
        script.write(IRQ_EN, 1)
        for number, name in enumerate(FIELDS[:-1], start=2):
            script.write(4 * number, fields[name])
        for _ in range(3):
            script.write(4 * 33, fields["mvm_start"], start=True)
            for _ in range(delay):
                script.read(STATUS)
            script.write(IRQ_STAT, 2)  # clears the other one
            script.wait_irq(10_000)
            script.write(IRQ_STAT, 1)
            script.poll(STATUS, 1, 1)
        script.read(COMMITS)
        status, records, reads = small.play(script)
        assert (status.status, len(records), reads[-1]) == ("done", 3, 3)
