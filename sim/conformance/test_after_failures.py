"""Binaries that fail, each for another reason, and a good one behind each of them: it ends as if nothing had been.

All of a device are one job without a reset in between, on memory that ends too early: what a run leaves behind in the hardware is
met by the next one. After every run the registers that only hosts read must say what the commits say.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np
import pytest
from test_bus_errors import BUS_ERROR, Cut, Short
from test_end_of_memory import at_the_end
from test_long_binaries import DEVICES, cheapest

from fleet.engines.rtl_sim.job import JobScript, read_results
from fleet.engines.rtl_sim.records import CommitRecord, read_records
from fleet.engines.trace import CYCLE_CLASSES
from fleet.isa.codec import CodecError, interrupt
from fleet.isa.codec_binary import BEAT, BLOCK, encode_binary
from fleet.isa.description import Register
from fleet.isa.reading.cache import load
from fleet.sdk import Call, Write
from fleet.streams.case import Setting, StreamCase
from fleet.streams.model_side import refusal
from fleet.streams.run import StreamRunner
from fleet.verify.conformance.suite import make_case, names

MISSING = BLOCK - 3 * BEAT  # of every memory: of a block at the end of DDR three beats are there
AHEAD = 200  # beats of a binary, more than any fetch reads ahead
LIMIT = 1_000_000


@dataclass(frozen=True)
class Run:
    """A binary.

    failing: the call that commits with `cause`; None: all are good, or the fetch fails. place: where it stands; None: anywhere.
    change: what is wrong with the start, and its value: "tasks", "beats", "at" (bytes behind the binary's address); or "id": the
    number of the task with an invalid opcode.
    """

    name: str
    calls: Sequence[Call]
    good: bool = False
    failing: int | None = None
    cause: int = 0
    place: int | None = None
    change: tuple[str, int] | None = None


class Ending(Short):
    """Every memory ends too early."""

    def end(self, missing: int) -> None:
        """Makes all files so much shorter than memory."""
        for (space, _), path in self.memory.paths.items():
            os.truncate(path, self.memory.device.memory[space] - missing)


def _refused(runner: StreamRunner) -> Iterator[tuple[int, Call]]:
    """A call for every cause, which a binary can hold."""
    known = load(runner.set.description).instructions
    seen = set[int]()
    for name in (f"{runner.device.name}/{i}/illegal/{n}" for i in runner.set.instructions for n in range(3) if known[i].beats):
        for call in make_case(name).calls:
            cause = refusal(runner.set.instructions[call.instruction], runner.device, call.fields)
            if cause > 0 and cause not in seen and _encodes(runner, call):
                seen.add(cause)
                yield cause, call


def _encodes(runner: StreamRunner, call: Call) -> bool:
    start = load(runner.set.description).words(call.instruction)[-1].name
    try:
        encode_binary(runner.set, [call])
    except CodecError:
        return False
    return load(runner.set.description).instructions[call.instruction].accepts(call.fields[start])


def _faulty(runner: StreamRunner) -> Iterator[Call]:
    """A call for every instruction that meets the end of a memory, and each such memory, which a binary can hold."""
    known, ends = load(runner.set.description).instructions, runner.device.memory
    seen = set[tuple[str, str]]()
    for name in (n for n in names(runner.device.name) if n.endswith("/directed/0") and known[n.split("/")[1]].beats):
        for case in at_the_end(name):
            call = case.calls[-1]
            unit = runner.set.instructions[call.instruction]
            for r in (*unit.reads(runner.device, call.fields), *unit.writes(runner.device, call.fields)):
                key = call.instruction, r.space
                if r.space in ends and r.offset + r.size == ends[r.space] and key not in seen:
                    seen.add(key)
                    yield call


def _with_results(runner: StreamRunner) -> Iterator[StreamCase]:
    """A case that leaves a result in a register, where a set has one: what follows must leave it there."""
    known = load(runner.set.description)
    for name in (n for n in names(runner.device.name) if known.units[known.instructions[n.split("/")[1]].unit].result is not None):
        case = make_case(name)
        if all(known.instructions[c.instruction].beats for c in case.calls) and runner.model(case)[-1].result:
            yield case
            return


def _runs(runner: StreamRunner, case: StreamCase, results: Sequence[StreamCase]) -> Iterator[Run]:
    for one in results:
        yield Run("one with a result", one.calls, good=True)
    calls = tuple(case.calls) * 2
    beats = load(runner.set.description).instructions[calls[0].instruction].beats
    good, size = Run("a good one", calls, good=True), runner.device.memory["ddr"]
    yield good
    wrong = {
        "no tasks": ("tasks", 0), "more tasks than there are": ("tasks", len(calls) + 1), "cut short": ("beats", 1 + beats),
        "no beats": ("beats", 0), "an address between beats": ("at", BEAT // 2), "the first opcode is invalid": ("id", 0),
        "the second opcode is invalid": ("id", 1),
    }  # fmt: skip
    for name, change in wrong.items():
        yield Run(name, calls, change=change)
        yield good
    yield Run("beyond the memory", calls, place=size - BEAT)
    yield good
    long = calls * (AHEAD // len(calls))
    for cause, call in _refused(runner):
        for before in (0, len(calls)):
            where = f"{call.instruction} refused for {cause} behind {before}"
            yield Run(where, (*calls[:before], call, *(long if before == 0 else calls)), failing=before, cause=cause)
            yield good
    for call in _faulty(runner):
        yield Run(f"{call.instruction} with a bus error", (*calls, call), failing=len(calls), cause=BUS_ERROR)
        yield good
    yield Run("the memory ends in it", calls, place=size - BLOCK)
    yield Run("a long one", long, good=True)


class _Host:
    """The script of all runs, and what it reads after each."""

    def __init__(self, runner: StreamRunner) -> None:
        self._runner, self.script = runner, JobScript()
        self._description, self.irq = load(runner.set.description), interrupt(runner.set)
        roles = ("cycles", "cycles_class", "error_cause", "error_instruction", "counter")
        unit_results = [u.result for u in self._description.units.values() if u.result is not None]
        self._registers = [*(r for role in roles for r in self._description.with_role(role)), *unit_results]
        self.blocks: list[Write] = []
        self.looked: list[tuple[int, Mapping[Register, int]]] = []
        self._next = runner.device.memory["ddr"] // 2
        self.script.write(self.irq.enable_address, self.irq.done | self.irq.error)

    def run(self, run: Run) -> None:
        fetch = self._description.fetch
        assert fetch is not None
        data = np.frombuffer(encode_binary(self._runner.set, run.calls), np.uint8).copy()
        what, value = run.change or ("", 0)
        if what == "id":
            data[value] = 0xFF
        place = self._next if run.place is None else run.place
        beyond = place + data.size > self._runner.device.memory["ddr"]
        self.blocks += [] if beyond else [Write("ddr", place, data)]
        self._next += data.size if run.place is None else 0
        at = place + value if what == "at" else place
        tasks = value if what == "tasks" else len(run.calls)
        beats = value if what == "beats" else data.size // BEAT
        for register, to in ((fetch.address, at), (fetch.beats, beats), (fetch.tasks, tasks)):
            self.script.write(register.address, to)
        self.script.write(fetch.unit.start.address, fetch.word.start, fetch=True)
        self.script.wait_irq(LIMIT)
        status = fetch.unit.status
        if status is not None and not run.good:  # a refusal may be told before the end of the run
            self.script.poll(status.address, status.mask, status.mask)
        said = self.script.read(self.irq.status_address)
        self.looked.append((said, {r: self.script.read(r.address) for r in self._registers}))
        self.script.write(self.irq.status_address, self.irq.done | self.irq.error)


def _held(read: Mapping[Register, int], records: Sequence[CommitRecord], tasks: int, where: str) -> None:
    """The registers say what the commits so far say. tasks: of the last binary."""
    last = records[-1]
    failed = [(r.error, r.opcode) for r in records if r.error]
    cause, opcode = failed[-1] if failed else (0, 0)
    results = [0, *(r.result for r in records if r.result is not None)]
    said = {"cycles": sum(last.cycles.values()), "error_cause": cause, "error_instruction": opcode, "result": results[-1]}
    counters = {"commits": len(records), "tasks_done": tasks}
    classes = iter(CYCLE_CLASSES)
    for register, value in read.items():
        if register.role == "cycles_class":
            assert value == last.cycles[next(classes)], f"{register.name} {where}"
        elif register.role != "counter":
            assert value == said[register.role], f"{register.name} {where}"
        elif register.name in counters:  # what others count, their descriptions do not say in a form that is read here
            assert value == counters[register.name], f"{register.name} {where}"


@pytest.mark.parametrize("memory", ["ideal", "fixed:200"])
@pytest.mark.parametrize("device", DEVICES)
def test_a_binary_after_one_that_failed(device: str, memory: str) -> None:
    with StreamRunner(device, stop=False) as runner:
        case = cheapest(device)
        results = list(_with_results(runner))
        for one in results:
            case = replace(case, blocks=(*case.blocks, *one.blocks), parameters={**one.parameters, **case.parameters})
        description, runs = load(runner.set.description), list(_runs(runner, case, results))
        host = _Host(runner)
        for run in runs:
            host.run(run)
        good = replace(case, calls=tuple(c for r in runs for c in r.calls if r.good), causes=None)
        expected = iter(runner.model(good))
        runner.found.close()
        runner.found = found = Ending(runner.device, runner.folder / "short")
        found.cut = Cut("ddr", MISSING, ())
        found.fill((*case.blocks, *host.blocks), case.parameters)
        _, job = runner.play(host.script, Setting(memory))
        records, values = read_records(job.trace), read_results(job.results)
        found.end(0)
    fetch = description.fetch
    assert fetch is not None
    at, causes = 0, set[int]()
    for number, (run, (said, read)) in enumerate(zip(runs, host.looked, strict=True)):
        where = f"after run {number}, {run.name}, behind {runs[number - 1].name if number else 'reset'}"
        first = at
        while at < len(records) and at - first < len(run.calls) and not records[at].error:
            at += 1
        done = at - first
        if run.good:
            assert done == len(run.calls), where
            for call, record in zip(run.calls, records[first:at], strict=True):
                model = next(expected)
                assert record.opcode == description.instructions[call.instruction].opcode, where
                found_now = (record.digest, record.bytes_written, record.result)
                assert found_now == (model.digest, model.bytes_written, model.result), where
            assert values[said] == host.irq.done, where
        else:
            record = records[at]
            at += 1
            causes.add(record.error)
            assert values[said] & host.irq.error, where
            if run.failing is None:
                assert record.opcode == fetch.word.opcode, where
            else:
                opcode = description.instructions[run.calls[run.failing].instruction].opcode
                assert (done, record.opcode, record.error) == (run.failing, opcode, run.cause), where
        tasks = sum(r.opcode != fetch.word.opcode for r in records[first:at])
        _held({r: values[i] for r, i in read.items()}, records[:at], tasks, where)
    assert at == len(records)
    assert BUS_ERROR in causes
    assert len(causes) > 3
    assert any(r.result for r in records) or not results
