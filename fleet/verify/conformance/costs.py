"""The cost model against the hardware: what `cost` says and what instructions take with ideal memory, one after the other."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from statistics import median

from fleet.isa.checking.finding import Finding, method_place
from fleet.isa.resolved import resolved
from fleet.sdk import Device, InstructionSet
from fleet.streams.case import StreamOutcome

_GATE = 0.1
"""Relative error of `cost` in the median of an instruction's calls, at most."""


@dataclass
class CostSample:
    """Calls that were measured. known: by instruction, (estimated, measured) cycles."""

    instruction_set: InstructionSet
    device: Device
    known: dict[str, list[tuple[int, int]]] = field(default_factory=dict[str, list[tuple[int, int]]])

    def add(self, outcome: StreamOutcome) -> None:
        """Take the executed calls of a stream whose results were right, if the memory was ideal and each call was waited for."""
        setting = outcome.setting
        if not outcome.passed or (setting.memory, setting.issue) != ("ideal", "regs"):
            return
        calls = resolved(self.instruction_set, self.device, outcome.case.calls)
        for call, commit in zip(calls, outcome.found, strict=False):
            expected = self.instruction_set.instructions[call.instruction].expected_cycles(self.device, call.fields)
            if expected is not None and commit.cycles and not commit.cause:
                self.known.setdefault(call.instruction, []).append((expected, sum(commit.cycles.values())))

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
