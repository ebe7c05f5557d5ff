"""Memory that ends too early: an access behind its end is answered with an error, with which the instruction ends.

No legal address of a device leaves its memory, so nothing else meets these answers. Here one operand after the other is moved
to the end of memory, and the hardware gets memory that is cut off inside of it. It must say so, write nothing that is not its own,
not hang on what it had not written yet, and do the next instruction as if nothing had been.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

import pytest
from chosen import devices, meets_memory
from test_end_of_memory import at_the_end

from fleet.sdk import Call, Range, Write
from fleet.streams.case import Setting, StreamCase
from fleet.streams.images import Images, differences
from fleet.streams.run import StreamRunner
from fleet.verify.conformance.suite import make_case, names

BUS_ERROR = 6  # of every set: docs/instruction-sets.md
MEMORIES = ("ideal", "fixed:40", "stall:5")
BEAT = 64


@dataclass(frozen=True)
class Cut:
    """space: whose files end `missing` bytes early. moved: what may differ afterwards."""

    space: str
    missing: int
    moved: Sequence[Range]


class Short(Images):
    """Memory whose files the hardware finds cut off."""

    cut: Cut | None = None

    def clear(self, seed: int | None = 0) -> None:
        """Every byte is 0, and all of them are there."""
        for (space, _), path in self.memory.paths.items():
            os.truncate(path, 0)
            os.truncate(path, self.memory.device.memory[space])
        self.memory.clear_arrays(seed)

    def fill(self, blocks: Sequence[Write], parameters: Mapping[int, int] | None = None, seed: int | None = 0) -> None:
        """What lies behind the cut is not kept."""
        super().fill(blocks, parameters, seed)
        self.end(0 if self.cut is None else self.cut.missing)

    def end(self, missing: int) -> None:
        """Makes the files of the space so much shorter than memory."""
        for (space, _), path in self.memory.paths.items():
            if self.cut is not None and space == self.cut.space:
                os.truncate(path, self.memory.device.memory[space] - missing)


def _cuts(runner: StreamRunner, name: str) -> Iterator[tuple[StreamCase, Cut]]:
    """The case with a call before its last one that meets the end of memory, for every operand of it."""
    original = make_case(name)
    for case in at_the_end(name):
        call = case.calls[-1]
        unit = runner.set.instructions[call.instruction]
        ranges = [*unit.reads(runner.device, call.fields), *unit.writes(runner.device, call.fields)]
        for space in runner.device.memory:
            moved = [r for r in ranges if r.space == space and r.offset + r.size == runner.device.memory[space]]
            if moved:
                missing = max(BEAT, min(r.size for r in moved) // 2 // BEAT * BEAT)
                hull = [r for r in ranges if r.space == space and r.offset + r.size > runner.device.memory[space] // 2]
                yield replace(case, calls=(*case.calls, original.calls[-1])), Cut(space, missing, hull)


@pytest.mark.parametrize("memory", MEMORIES)
@pytest.mark.parametrize("device", devices())
def test_an_error_of_the_memory_ends_the_instruction_and_nothing_else(device: str, memory: str) -> None:
    tried, meeting = set[str](), set[str]()
    with StreamRunner(device, stop=False) as runner:
        runner.found.close()
        found = Short(runner.device, runner.folder / "short")
        runner.found = found
        for name in (n for n in names(device) if n.endswith(("/directed/0", "/directed/7"))):
            last = make_case(name).calls[-1]
            meeting |= {last.instruction} if meets_memory(runner.set, runner.device, last) else set()
            for case, cut in _cuts(runner, name):
                tried.add(last.instruction)
                found.cut = cut
                expected = runner.model(case)
                commits, status = runner.hardware(case, Setting(memory))
                found.end(0)
                where = f"{case.name}, {cut.missing} bytes of {cut.space} missing"
                assert [c.cause for c in commits[:-2]] == [0] * (len(commits) - 2), where
                assert commits[-2].cause == BUS_ERROR, f"{where}: {status.refusal or 'no access was refused'}"
                assert commits[-1].architectural == expected[-1].architectural, f"{where}: the instruction behind it"
                stray = [
                    b for b in differences(runner.expected, found)[0]
                    if b.space != cut.space or not any(r.offset <= b.address < r.offset + r.size for r in cut.moved)
                ]  # fmt: skip
                assert not stray, f"{where}: {stray[0]}"
    assert tried == meeting


@pytest.mark.parametrize("device", devices())
def test_an_error_is_that_of_its_own_instruction(device: str) -> None:
    """A good instruction of every kind right behind a faulty one of every kind, in one job; it computes on whatever is there."""
    with StreamRunner(device, stop=False) as runner:
        runner.found.close()
        found = Short(runner.device, runner.folder / "short")
        runner.found = found
        cases = [make_case(n) for n in names(device) if n.endswith("/directed/0")]
        chosen = [n for n in names(device) if n.endswith(("/directed/0", "/directed/7"))]
        faulty = [(cut.space, case.calls[-2]) for name in chosen for case, cut in _cuts(runner, name)]
        for space in {space for space, _ in faulty}:
            calls, causes = list[Call](), list[int]()
            for call in (call for at, call in faulty if at == space):
                for case in cases:
                    calls += [*case.calls[:-1], call, case.calls[-1]]
                    causes += [*(0 for _ in case.calls[:-1]), BUS_ERROR, 0]
            blocks = tuple(block for case in cases for block in case.blocks)
            parameters = {k: v for case in cases for k, v in case.parameters.items()}
            found.cut = Cut(space, BEAT, ())
            all_ = replace(cases[0], calls=tuple(calls), causes=None, blocks=blocks, parameters=parameters)
            commits, _ = runner.hardware(all_, Setting("ideal"))
            found.end(0)
            wrong = [
                (i, c.instruction, c.cause) for i, (c, cause) in enumerate(zip(commits, causes, strict=True)) if c.cause != cause
            ]
            assert not wrong, [(*w, "behind", commits[w[0] - 1].instruction) for w in wrong[:5]]
    assert faulty
