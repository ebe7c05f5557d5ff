"""Check the classes of a commit's cycles against rules that do not come from the hardware's counters.

The instruction set states which classes a call may have, and how many cycles at least (`Source.cycles`). The reader of the commits
checks that the classes sum to the cycles between start and commit.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from fleet.isa.checking.finding import method_place
from fleet.isa.conformance import sources
from fleet.sdk import ANY_CYCLES, WORKING, Call, CycleRules, Device, InstructionSet
from fleet.streams.case import Issue, StreamCommit


def rules_of(instruction_set: InstructionSet, device: Device, call: Call) -> CycleRules:
    """Return the set's rules for a legal call; an instruction without a source may have every class."""
    source = sources(instruction_set).get(call.instruction)
    return ANY_CYCLES if source is None else source.cycles(device, call)


def wrong_classes(
    instruction_set: InstructionSet,
    device: Device,
    calls: Sequence[Call],
    expected: Sequence[StreamCommit],
    found: Sequence[StreamCommit],
    issue: Issue,
) -> Iterator[str]:
    """Yield a line for each commit of the hardware whose cycle classes are impossible, whatever the memory."""
    for i, (call, right, commit) in enumerate(zip(calls, expected, found, strict=False)):
        if commit.cycles and bool(right.cause) == bool(commit.cause):
            why = _refused(commit) if commit.cause else _executed(rules_of(instruction_set, device, call), commit, issue)
            if why:
                source = sources(instruction_set).get(call.instruction)
                stated = "" if commit.cause or source is None else f" (by `cycles`, {method_place(type(source), 'cycles')})"
                yield f"instruction {i} ({call.instruction}): {why}: {_said(commit)}{stated}"


def _refused(commit: StreamCommit) -> str:
    worked = [c for c in WORKING if commit.cycles[c]]
    return f"it was refused, and has cycles of {worked[0]}" if worked else ""


def _executed(rules: CycleRules, commit: StreamCommit, issue: Issue) -> str:
    never = [c for c in WORKING if c not in rules.least and commit.cycles[c]]
    if never:
        return f"it has cycles of {never[0]}, and can have none"
    for c in WORKING:
        if commit.cycles[c] < rules.least.get(c, 0):
            return f"{commit.cycles[c]} cycles of {c}, expected at least {rules.least[c]}"
    if not commit.cycles["issue"]:
        return "no cycle of issue, expected at least 1"
    if issue == "regs" and commit.cycles["dependency"]:
        return "it waited for another instruction, and none was under way"
    return ""


def _said(commit: StreamCommit) -> str:
    return ", ".join(f"{name} {count}" for name, count in commit.cycles.items() if count) or "no cycles"
