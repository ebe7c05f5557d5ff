"""The cost model against the hardware: what `cost` says and what instructions take with ideal memory, one after the other."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from statistics import median

from fleet.isa.checking.asking import ask_cycles
from fleet.isa.checking.finding import Finding, method_place
from fleet.isa.resolved import resolved
from fleet.sdk import Call, Device, InstructionSet
from fleet.streams.case import StreamOutcome

_GATE = 0.1
"""Relative error of `cost` in the median of an instruction's calls, at most."""
_PAGES = 0.5
"""Relative error of what a page's end in an operand costs, in the median of the operands where the hardware takes other cycles."""
_SEEN = 0.05
"""Part of a call's cycles that this must be in one of them, or nobody's estimate is the worse for it."""


@dataclass
class CostSample:
    """Calls that were measured. known: by instruction, (estimated, measured) cycles.

    moved: by instruction, for operands at a page and across it: how many cycles more (estimated, measured), and all cycles of it.
    """

    instruction_set: InstructionSet
    device: Device
    known: dict[str, list[tuple[int, int]]] = field(default_factory=dict[str, list[tuple[int, int]]])
    moved: dict[str, list[tuple[int, int, int]]] = field(default_factory=dict[str, list[tuple[int, int, int]]])

    def add(self, outcomes: Iterable[StreamOutcome]) -> None:
        """Take the executed calls of streams whose results were right, if the memory was ideal and each call was waited for.

        Raises NoAnswer for an estimate that is no number of cycles.
        """
        for outcome in outcomes:
            if outcome.passed and (outcome.setting.memory, outcome.setting.issue) == ("ideal", "regs"):
                calls = resolved(self.instruction_set, self.device, outcome.case.calls)
                for call, commit in zip(calls, outcome.found, strict=False):
                    if commit.cycles and not commit.cause:  # of a refused call nothing is estimated
                        self._measured(call, sum(commit.cycles.values()))

    def add_moved(self, call: Call, at: StreamOutcome, across: StreamOutcome) -> None:
        """Take a case whose last call has an operand that begins at a page, and the same across a page. call: one of both."""
        if not (at.passed and across.passed and at.found[-1].cycles and across.found[-1].cycles):
            return
        cls = self.instruction_set.instructions[call.instruction]
        estimated = [ask_cycles(cls, "expected_cycles", self.device, o.case.calls[-1].fields, "ideal") for o in (at, across)]
        measured = [sum(o.found[-1].cycles.values()) for o in (at, across)]
        more = estimated[1] - estimated[0], measured[1] - measured[0]
        self.moved.setdefault(call.instruction, []).append((*more, measured[1]))

    def _measured(self, call: Call, cycles: int) -> None:
        cls = self.instruction_set.instructions[call.instruction]
        expected = ask_cycles(cls, "expected_cycles", self.device, call.fields, "ideal")
        self.known.setdefault(call.instruction, []).append((expected, cycles))

    def findings(self) -> Iterator[Finding]:
        """A finding for each instruction whose cost is wrong in the median, with its worst call."""
        for name, pairs in self.known.items():
            if median(abs(expected / measured - 1) for expected, measured in pairs) <= _GATE:
                continue
            expected, measured = max(pairs, key=lambda pair: abs(pair[0] - pair[1]))
            other = sum(a != b for a, b in pairs)
            what = f"{name}: `cost` is {expected} cycles where the hardware took {measured} with ideal memory; "
            what += f"it is wrong in {other} of {len(pairs)} calls, in the median by more than {_GATE:.0%}"
            yield Finding(method_place(self.instruction_set.instructions[name], "cost"), what)
        for name, moved in self.moved.items():
            other = [(abs(a - b), b, cycles) for a, b, cycles in moved if b]
            if not other or median(off / abs(b) for off, b, _ in other) <= _PAGES or all(off < _SEEN * n for off, _, n in other):
                continue
            off, more, cycles = max(other)
            what = f"{name}: an operand across a page of memory, where bursts end, takes {more:+} of {cycles} cycles; "
            what += f"`cost` is {off} off there, and in {sum(o > 0 for o, _, _ in other)} of {len(other)} such operands"
            yield Finding(method_place(self.instruction_set.instructions[name], "cost"), what)
