"""Binaries of more than one block, and starts of the fetch that mean no binary: the suite's streams are shorter than a block."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace

import numpy as np
import pytest
from chosen import devices

from fleet.engines.rtl_sim.job import JobScript, read_results
from fleet.isa.codec import interrupt
from fleet.isa.codec_binary import encode_binary
from fleet.isa.reading.cache import load
from fleet.isa.registry import find_device
from fleet.sdk import Call
from fleet.streams.case import Setting, StreamCase
from fleet.streams.run import StreamRunner
from fleet.verify.conformance.settings import ways_of_issue
from fleet.verify.conformance.suite import make_case, names

DEVICES = [d for d in devices() if "aux" in ways_of_issue(find_device(d)[0])]
BLOCK, BEAT = 32, 64  # tasks of a block, bytes of a beat: the binary form's


def cheapest(device: str, beats: int = 0) -> StreamCase:
    """A case of little work whose instructions have a binary form. beats: of the last one's task; 0: any."""
    instruction_set, chip = find_device(device)
    known = load(instruction_set.description).instructions
    cases = [make_case(n) for n in names(device) if n.endswith("/directed/0")]
    cases = [c for c in cases if all(known[x.instruction].beats for x in c.calls)]
    cases = [c for c in cases if known[c.calls[-1].instruction].beats in {beats or known[c.calls[-1].instruction].beats}]
    return min(cases, key=lambda c: sum(instruction_set.instructions[x.instruction].cost(chip, x.fields) for x in c.calls))


def _sizes(device: str) -> list[int]:
    """Beats that a task can have, the most first."""
    return sorted({w.beats for w in load(find_device(device)[0].description).instructions.values() if w.beats}, reverse=True)


def _mixtures() -> Iterator[tuple[str, tuple[int, ...]]]:
    """Tasks of one size, whose blocks end with room that is skipped or with none; and a block that lacks one beat."""
    for device in DEVICES:
        sizes = _sizes(device)
        yield from ((device, (s,)) for s in sizes)
        if len(sizes) > 1:
            yield device, (*[sizes[0]] * (BLOCK - 1), sizes[-1])


@pytest.mark.parametrize("memory", ["ideal", "stall:3"])
@pytest.mark.parametrize("tasks", [BLOCK, BLOCK + 1, 2 * BLOCK + 5])
@pytest.mark.parametrize(("device", "beats"), _mixtures())
def test_binaries_of_several_blocks(
    device: str, beats: tuple[int, ...], tasks: int, memory: str, runners: Callable[[str], StreamRunner]
) -> None:
    cases = {b: cheapest(device, b) for b in set(beats)}
    calls: list[Call] = []
    while len(calls) < tasks:
        for b in beats:
            calls += cases[b].calls
    blocks = tuple(w for c in cases.values() for w in c.blocks)  # they may meet: both engines then find the same there
    parameters = {k: v for c in cases.values() for k, v in c.parameters.items()}
    case = replace(
        cases[beats[0]], calls=tuple(calls[:tasks]), causes=(0,) * tasks, blocks=blocks, parameters=parameters
    )  # fmt: skip
    (outcome,) = runners(device).run(case, [Setting(memory, "aux")])
    assert outcome.passed, outcome.reasons
    assert len(outcome.found) == tasks


@pytest.mark.parametrize("wrong", ["no tasks", "an address inside a beat", "beyond the memory"])
@pytest.mark.parametrize("device", DEVICES)
def test_a_start_that_means_no_binary_is_refused(device: str, wrong: str, runners: Callable[[str], StreamRunner]) -> None:
    runner = runners(device)
    case = cheapest(device)
    data = np.frombuffer(encode_binary(runner.set, case.calls * 3), np.uint8)
    fetch, irq = load(runner.set.description).fetch, interrupt(runner.set)
    assert fetch is not None
    place = runner.device.memory["ddr"] // 2
    address = {"an address inside a beat": place + BEAT // 2, "beyond the memory": runner.device.memory["ddr"] - BEAT}.get(
        wrong, place
    )
    script = JobScript()
    script.write(irq.enable_address, irq.done | irq.error)
    for register, value in (
        (fetch.address, address),
        (fetch.beats, data.size // BEAT),
        (fetch.tasks, 0 if wrong == "no tasks" else 3),
    ):
        script.write(register.address, value)
    script.write(fetch.unit.start.address, fetch.word.start)
    script.wait_irq(100_000)
    at = script.read(irq.status_address)
    script.write(irq.status_address, irq.done | irq.error)
    tasks = 3 * len(case.calls)
    for register, value in (
        (fetch.address, place),
        (fetch.beats, data.size // BEAT),
        (fetch.tasks, tasks),
    ):  # what was wrong is over
        script.write(register.address, value)
    script.write(fetch.unit.start.address, fetch.word.start)
    script.wait_irq(100_000)
    then = script.read(irq.status_address)
    runner.found.fill(case.blocks)
    runner.found.memory.view("ddr", place, data.size)[:] = data
    status, job = runner.play(script, Setting())
    assert read_results(job.results)[at] & irq.error, wrong
    assert read_results(job.results)[then] == irq.done, "a binary after a refused one ends as if nothing had been"
    assert status.commits == 1 + tasks, "of the refused fetch, itself alone"
