"""Status registers, which hosts poll: 0 from the start of a unit's instruction to its end, then 1; nobody else's changes."""

from __future__ import annotations

from collections.abc import Sequence

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
