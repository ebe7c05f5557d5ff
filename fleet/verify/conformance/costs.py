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


@dataclass
class CostSample:
    """Calls that were measured. known: by instruction, (estimated, measured) cycles."""

    instruction_set: InstructionSet
    device: Device
    known: dict[str, list[tuple[int, int]]] = field(default_factory=dict[str, list[tuple[int, int]]])

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
