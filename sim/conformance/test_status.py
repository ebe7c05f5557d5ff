"""Status registers, which hosts poll: 0 from the start of a unit's instruction to its end, then 1; nobody else's changes."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from itertools import permutations

import numpy as np
import pytest
from chosen import devices, meets_memory

from fleet.engines.rtl_sim.job import JobScript, read_results
from fleet.isa.codec import interrupt
from fleet.isa.codec_binary import encode_binary
from fleet.isa.description import Description
from fleet.isa.reading.cache import load
from fleet.sdk import Call
from fleet.streams.case import Setting, StreamCase
from fleet.streams.run import StreamRunner
from fleet.verify.conformance.suite import make_case

SLOW = Setting("fixed:200")  # a read of a register is quicker than any instruction that meets memory
LIMIT = 1_000_000


class _Host:
    """Writes a script that looks at all status registers, and says what they were."""

    def __init__(self, runner: StreamRunner) -> None:
        self._runner, self.script = runner, JobScript()
        self._description: Description = load(runner.set.description)
        self._interrupt = interrupt(runner.set)
        self._status = {name: u.status for name, u in self._description.units.items() if u.status is not None}
        self._looked: list[dict[str, int]] = []
        self.script.write(self._interrupt.enable_address, self._interrupt.done | self._interrupt.error)

    @property
    def statuses(self) -> set[str]:
        """Units that have a status."""
        return set(self._status)

    def look(self) -> None:
        """Reads all of them."""
        self._looked.append({name: self.script.read(r.address) for name, r in self._status.items()})

    def begin(self, writes: Sequence[tuple[int, int]]) -> None:
        """Writes registers, the start last; looks before and after."""
        for address, value in writes[:-1]:
            self.script.write(address, value)
        self.look()
        self.script.write(*writes[-1])
        self.look()

    def end(self) -> None:
        """Waits for the interrupt, and looks."""
        self.script.wait_irq(LIMIT)
        self.look()
        self.script.write(self._interrupt.status_address, self._interrupt.done | self._interrupt.error)

    def start(self, call: Call) -> None:
        """An instruction, waited for."""
        self.begin([(r.address, call.fields[r.name]) for r in self._description.words(call.instruction)])
        self.end()

    def start_both(self, calls: Sequence[Call]) -> None:
        """Two instructions, the second one written while the first one runs; looks when one is over, and at the end of both."""
        words = [[(r.address, call.fields[r.name]) for r in self._description.words(call.instruction)] for call in calls]
        for address, value in (w for each in words for w in each):
            self.script.write(address, value)
        self.end()
        status = self._status[self._description.instructions[calls[1].instruction].unit]
        self.script.poll(status.address, status.mask, status.mask)
        self.look()
        self.script.write(self._interrupt.status_address, self._interrupt.done | self._interrupt.error)

    def fetch(self, address: int, beats: int, tasks: int) -> str:
        """A binary, waited for; the name of the unit that fetches it."""
        fetch = self._description.fetch
        assert fetch is not None
        values = ((fetch.address, address), (fetch.beats, beats), (fetch.tasks, tasks))
        self.begin([*((r.address, v) for r, v in values), (fetch.unit.start.address, fetch.word.start)])
        self.end()
        return fetch.unit.name

    def play(self, case: StreamCase, data: np.ndarray | None = None, place: int = 0) -> list[dict[str, int]]:
        """What every look found: unit -> done. data: stands at `place` of DDR, beside the case's."""
        self._runner.found.fill(case.blocks)
        if data is not None:
            self._runner.found.memory.view("ddr", place, data.size)[:] = data
        _, job = self._runner.play(self.script, SLOW)
        values = read_results(job.results)
        return [{n: int(values[at]) & self._status[n].mask for n, at in looked.items()} for looked in self._looked]


def _held(where: str, own: set[str], before: dict[str, int], during: dict[str, int], after: dict[str, int]) -> None:
    others = {n: v for n, v in before.items() if n not in own}
    assert {n: v for n, v in during.items() if n not in own} == others, f"{where}, while it runs"
    assert {n: v for n, v in after.items() if n not in own} == others, f"{where}, at its end"
    assert all(after[n] for n in own), f"{where}, at its end"


@pytest.mark.parametrize("device", devices())
def test_an_instruction_changes_the_status_of_its_unit_alone(device: str) -> None:
    with StreamRunner(device) as runner:
        units = {n: i.unit for n, i in load(runner.set.description).instructions.items()}
        for name in runner.set.instructions:
            case, host = make_case(f"{device}/{name}/directed/0"), _Host(runner)
            for call in (*case.calls, case.calls[-1]):  # the last one twice: its status is 1 from the time before
                host.start(call)
            looked = host.play(case)
            for i, call in enumerate((*case.calls, case.calls[-1])):
                before, during, after = looked[3 * i : 3 * i + 3]
                own = units[call.instruction]
                _held(f"{name}, instruction {i} ({call.instruction})", {own} & set(before), before, during, after)
                cleared = not during.get(own) or not meets_memory(runner.set, runner.device, call)  # it may be over by then
                assert cleared, f"{name}: a start clears the status"


@pytest.mark.parametrize("device", devices())
def test_a_unit_is_not_done_while_its_second_instruction_runs(device: str) -> None:
    """The first of two ends; the second one has memory to meet and is not over, whichever part of the unit runs it."""
    with StreamRunner(device) as runner:
        ahead = runner.set.issue.ahead
        if ahead is None:
            pytest.skip("the set's instructions do not overlap")
        units = {n: i.unit for n, i in load(runner.set.description).instructions.items()}
        cases = {name: make_case(f"{device}/{name}/directed/0") for name in runner.set.instructions}
        tried, same = 0, 0
        for first, second in permutations(cases.values(), 2):
            calls = first.calls[-1], second.calls[-1]
            one, two = (units[c.instruction] for c in calls)
            if not all(meets_memory(runner.set, runner.device, c) for c in calls) or not ahead(runner.device, calls[:1], calls[1]):
                continue
            host = _Host(runner)
            if two not in host.statuses:
                continue
            for call in (*first.calls[:-1], *second.calls[:-1]):
                host.start(call)
            host.start_both(calls)
            case = replace(first, blocks=(*first.blocks, *second.blocks))
            *_, between, end = host.play(case)
            where = f"{calls[1].instruction} behind {calls[0].instruction}"
            assert not between[two], where
            assert one == two or between[one], f"{where}: the first one is over"
            assert end[one] & end[two], where
            tried, same = tried + 1, same + (one == two)
    assert tried
    assert same


@pytest.mark.parametrize("device", devices())
def test_a_binary_ends_with_the_status_of_the_unit_that_fetched_it(device: str) -> None:
    with StreamRunner(device) as runner:
        description = load(runner.set.description)
        if description.fetch is None:
            pytest.skip("the set has no binaries")
        place = runner.device.memory["ddr"] // 2
        for name in (n for n in runner.set.instructions if description.instructions[n].beats):
            case = make_case(f"{device}/{name}/directed/0")
            if not all(description.instructions[c.instruction].beats for c in case.calls):
                continue
            host = _Host(runner)
            data = np.frombuffer(encode_binary(runner.set, case.calls), np.uint8)
            unit = [host.fetch(place, data.size // 64, len(case.calls)) for _ in range(2)][-1]
            looked = host.play(case, data, place)
            own = {unit, *(description.instructions[c.instruction].unit for c in case.calls)}
            for first in (0, 3):
                _held(name, own & set(looked[0]), *looked[first : first + 3])
                assert not looked[first + 1][unit], f"{name}: a start clears the status"
