"""Checks cycle classes on three memories: from ideal memory to one that answers `LATER` cycles later, only waiting may change.

What an instruction reads and writes, and over which port, is known from its ranges and from the bench's byte counts.
docs/reading-a-report.md describes the classes; `cycle_rules` holds the rules for one run.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from fleet.engines.trace import CYCLE_CLASSES
from fleet.sdk import ANY_CYCLES, Call, CycleRules
from fleet.streams.case import Setting, StreamCase, StreamCommit
from fleet.streams.cycle_rules import rules_of, wrong_classes
from fleet.streams.run import StreamRunner

LATER = 99
_IDEAL = Setting()
_SLOW = Setting(f"fixed:{LATER + 1}")  # ideal memory answers after one cycle
_STALLED = Setting("stall:3")
_BEATS = {"ddr": 64, "hbm": 32}
"""Bytes that a port moves per cycle."""


@dataclass(frozen=True)
class HeldClasses:
    """commits: legal instructions whose classes were checked, 0 if there are none; wrong: broken rules, one line each."""

    commits: int
    wrong: tuple[str, ...]


def held_on_memories(runner: StreamRunner, case: StreamCase) -> HeldClasses:
    """Check the cycle classes of every commit of a case against the rules.

    Raises SimulationError if the hardware does not run the case.
    """
    expected = runner.model(case)
    runs = [runner.hardware(case, setting) for setting in (_IDEAL, _SLOW, _STALLED)]
    (fast, status), (slow, _), (stalled, _) = runs
    wrong: list[str] = []
    for setting, (found, _) in zip((_IDEAL, _SLOW, _STALLED), runs, strict=True):
        lines = wrong_classes(runner.set, runner.device, case.calls, expected, found, setting.issue)
        wrong += [f"{case.name} {setting.memory}, {line}" for line in lines]
    commits = 0
    for n, (call, a, b, c) in enumerate(zip(case.calls, fast, slow, stalled, strict=True)):
        if a.cause:
            continue
        commits += 1
        rules = rules_of(runner.set, runner.device, call)
        alone = status.traffic if len(case.calls) == 1 else {}
        found = [*_later(runner, call, rules, a, b), *_by_beats(rules, a, b, alone), *_stalled(rules, a, c)]
        wrong += [f"{case.name}, instruction {n} ({call.instruction}): {line}" for line in found]
    return HeldClasses(commits, tuple(wrong))


def _stalled(rules: CycleRules, fast: StreamCommit, stalled: StreamCommit) -> Iterator[str]:
    """Check what random stalls must not change: issue cycles and, unless steps overlap with waiting, the exact work cycles."""
    both = f"ideal {dict(fast.cycles)}, {_STALLED.memory} {dict(stalled.cycles)}"
    if fast.cycles["issue"] != stalled.cycles["issue"]:
        yield f"issue depends on stalls: {both}"
    if abs(fast.cycles["compute"] - stalled.cycles["compute"]) > (_slack(fast) if rules.overlapping else 0):
        yield f"work depends on stalls: {both}"


def _slack(fast: StreamCommit) -> int:
    """Return the tolerance of work cycles: a cycle may be work and waiting at once, when data passes before the next beat comes."""
    return max(2, fast.cycles["compute"] // 6)


def _later(runner: StreamRunner, call: Call, rules: CycleRules, fast: StreamCommit, slow: StreamCommit) -> Iterator[str]:
    """Check what a later answer may change, and what it must change."""
    assert set(fast.cycles) == set(slow.cycles) == set(CYCLE_CLASSES)
    unit = runner.set.instructions[call.instruction]
    later = {c: slow.cycles[c] - fast.cycles[c] for c in CYCLE_CLASSES}
    both = f"ideal {dict(fast.cycles)}, {_SLOW.memory} {dict(slow.cycles)}"
    if later["issue"]:
        yield f"reading and checking the operands depends on memory: {both}"
    if abs(later["compute"]) > _slack(fast):
        yield f"work depends on memory: {both}"
    reads, writes = (any(r.size and r.space in _BEATS for r in f(runner.device, call.fields)) for f in (unit.reads, unit.writes))
    if not (later["write_back"] >= LATER if writes else later["write_back"] == 0):
        yield f"answers to writes come {LATER} cycles later: {both}"
    # A cycle that was waiting may count as work when all data come later.
    waiting = later["weight_wait"] + later["activation_wait"]
    spaces = {r.space for r in unit.reads(runner.device, call.fields) if r.size}
    # While activations from on-chip memory are waited for, weights may be there already: a part of their latency is not seen.
    hidden = fast.cycles["activation_wait"] if "onchip" in spaces else 0
    if not (waiting + max(later["compute"], 0) >= LATER - rules.asked - hidden if reads else waiting == 0):
        yield f"what it reads comes {LATER} cycles later: {both}"
    first = "ddr" in spaces and "onchip" not in spaces and "activation_wait" in rules.least
    if first and rules.least.keys() != ANY_CYCLES.least.keys() and slow.cycles["activation_wait"] < LATER:
        yield f"the first activation comes after {LATER} cycles, and is not waited for: {both}"


def _by_beats(rules: CycleRules, fast: StreamCommit, slow: StreamCommit, traffic: Mapping[str, int]) -> Iterator[str]:
    """Check cycles against the beats and bursts of the ports. traffic: of the job if it has only this instruction."""
    both = f"ideal {dict(fast.cycles)}, {_SLOW.memory} {dict(slow.cycles)}"
    if traffic and rules.answered:
        bursts = sum(n for k, n in traffic.items() if k.endswith("write_bursts"))
        for commit, latency in ((fast, 1), (slow, LATER + 1)):
            if commit.cycles["write_back"] != bursts + latency:
                yield f"{bursts} bursts, of which the last is answered after {latency} cycles: {both}"
    if traffic and "compute" in rules.least:
        moved = [n // _BEATS[k.split(".")[0]] for k, n in traffic.items() if k.endswith(("read_bytes", "write_bytes"))]
        if 2 * fast.cycles["compute"] < max(moved):  # a step takes at most one beat of each of two operands
            yield f"{max(moved)} beats went over one port, in {fast.cycles['compute']} cycles of work: {both}"
