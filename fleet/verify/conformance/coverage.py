"""The account of a conformance run: instructions, fields, values, modes and settings that were met, and the outcomes."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path

from fleet.core.files import RecordFile
from fleet.isa.codec import description_of
from fleet.isa.conformance import value_class
from fleet.isa.registry import find_device
from fleet.sdk import Device, InstructionSet
from fleet.sdk.dram import dram
from fleet.streams.case import StreamCase, StreamOutcome


@dataclass
class InstructionAccount:
    """The account of one instruction: counts of cases (streams that hold it) and of calls.

    fields, classes: name -> value class -> calls; executed, refused: calls; causes: cause -> refused calls; modes: value of the
    start register -> executed calls.
    """

    cases: int = 0
    executed: int = 0
    refused: int = 0
    fields: dict[str, dict[str, int]] = field(default_factory=dict[str, dict[str, int]])
    classes: dict[str, dict[str, int]] = field(default_factory=dict[str, dict[str, int]])
    modes: dict[str, int] = field(default_factory=dict[str, int])
    causes: dict[str, int] = field(default_factory=dict[str, int])


@dataclass
class SettingAccount:
    """Calls of one instruction on one device under one memory model and way of issue."""

    calls: int = 0
    bytes: int = 0
    mismatches: int = 0


@dataclass(frozen=True)
class CostPoint:
    """One executed call: cycles that the cost model expects with that memory, and simulated cycles from start to commit.

    slack, port_slack: cycles by which a single run may differ from the mean over all refresh phases (`refresh_slacks`).
    """

    device: str
    instruction: str
    memory: str
    cost: int
    cycles: int
    slack: float = 0.0
    port_slack: float = 0.0


@dataclass(frozen=True)
class MeanPoint:
    """One call over refresh phases (`fleet.verify.conformance.phases`): the cost model's mean, and the cycles simulated in each.

    name: of the case; slack, port_slack: as in `CostPoint`.
    """

    device: str
    instruction: str
    name: str
    cost: int
    cycles: tuple[int, ...]
    slack: float
    port_slack: float

    @property
    def mean(self) -> float:
        """Mean of the simulated cycles over the phases."""
        return sum(self.cycles) / len(self.cycles)

    @property
    def runs(self) -> tuple[CostPoint, ...]:
        """The single runs as cost points."""
        return tuple(
            CostPoint(self.device, self.instruction, "timed", self.cost, n, self.slack, self.port_slack) for n in self.cycles
        )


def refresh_slacks(device: Device, memory: str, cost: float) -> tuple[float, float]:
    """Return the core cycles of a refresh and a row miss: (of one port of each kind of memory, of all ports together).

    (0, 0) unless memory is timed. A single run may differ from the mean by as much, because it has one phase of the refreshes.
    HBM's ports are read in lockstep. A FIFO that holds the beats of a refresh plus a read's latency hides one port's refresh behind
    another's. With a shorter FIFO the refreshes of all ports add up in every refresh period of the call's `cost`, because the
    phases of the ports against each other do not change.
    """
    if memory != "timed":
        return 0.0, 0.0
    kinds = ports = 0.0
    for space in device.timing:
        d = dram(device, space)
        cycle = 1000 * device.clock_mhz / d.clock_khz
        stop = (d.t_rfc + 2 * (d.t_rp + d.t_rcd)) * cycle  # the row that the refresh closed is opened again
        hidden = (d.t_rp + d.t_rfc + d.t_rcd + d.request + d.t_rcd + d.cl + d.burst) * cycle
        adds_up = space == "hbm" and device.parameters.get("PortFifoDepth", 0) < hidden
        kinds += stop
        periods = math.ceil(max(1.0, cost / (d.t_refi * cycle)))
        ports += stop * (device.parameters.get("HbmPorts", 1) * periods if adds_up else 1)
    return kinds, ports


@dataclass(frozen=True)
class Failed:
    """A run that did not pass. replay: the command that runs it again."""

    name: str
    setting: str
    reason: str
    replay: str


@dataclass
class ConformanceCoverage:
    """The account of many runs. `settings` has keys "<device>/<memory model>/<issue>/<instruction>"."""

    instructions: dict[str, InstructionAccount] = field(default_factory=dict[str, InstructionAccount])
    settings: dict[str, SettingAccount] = field(default_factory=dict[str, SettingAccount])
    costs: tuple[CostPoint, ...] = ()
    means: tuple[MeanPoint, ...] = ()
    failures: tuple[Failed, ...] = ()
    cases: int = 0
    runs: int = 0
    bits: int = 0
    image_bytes: int = 0
    cycles: int = 0
    seconds: float = 0.0
    kinds: dict[str, int] = field(default_factory=dict[str, int])

    def add(self, case: StreamCase, outcomes: Iterable[StreamOutcome], seconds: float) -> None:
        """Add the outcomes of one case. seconds: total wall time."""
        outcomes = list(outcomes)
        instruction_set, device = find_device(case.device)
        self.cases += 1
        self.seconds += seconds
        kind = case.name.split("/")[-2]
        self.kinds[kind] = self.kinds.get(kind, 0) + 1
        self._instructions(instruction_set, case, outcomes)
        costs: list[CostPoint] = []
        for o in outcomes:
            self.runs += 1
            self.bits += 8 * o.bytes_compared
            self.image_bytes += o.image_bytes
            self.cycles += o.cycles
            memory = o.setting.memory.partition(":")[0]
            for i, expected in enumerate(o.expected):
                key = f"{case.device}/{memory}/{o.setting.issue}/{expected.instruction}"
                row = self.settings.setdefault(key, SettingAccount())
                row.calls += 1
                row.bytes += expected.bytes_written
                found = o.found[i] if i < len(o.found) else None
                row.mismatches += found is None or (not o.passed and found.architectural != expected.architectural)
                if found is not None and not found.cause and o.setting.issue == "regs" and found.start is not None and o.passed:
                    unit = instruction_set.instructions[found.instruction]
                    cost = unit.expected_cycles(device, case.calls[i].fields, memory)
                    if cost is not None:
                        cycles = (found.end or 0) - found.start
                        slacks = refresh_slacks(device, memory, cost)
                        costs.append(CostPoint(device.name, found.instruction, memory, int(cost), cycles, *slacks))
            if not o.passed:
                command = f"{case.replay} --memory {o.setting.memory} --issue {o.setting.issue}"
                self.failures += (Failed(case.name, o.setting.name, o.reasons[0], command),)
        self.costs += tuple(costs)

    def _instructions(self, instruction_set: InstructionSet, case: StreamCase, outcomes: list[StreamOutcome]) -> None:
        d = description_of(instruction_set)
        for name in {c.instruction for c in case.calls}:
            self.instructions.setdefault(name, InstructionAccount()).cases += 1
        expected = outcomes[0].expected if outcomes else ()
        for call, commit in zip(case.calls, expected, strict=False):
            row = self.instructions[call.instruction]
            if commit.cause:
                row.refused += 1
                _count(row.causes, str(commit.cause))
                continue
            row.executed += 1
            unit = d.units[d.instructions[call.instruction].unit]
            _count(row.modes, f"{call.fields[unit.start.name]:#x}")
            for r in d.words(call.instruction):
                for f in r.fields:
                    name = r.name if len(r.fields) == 1 else f"{r.name}.{f.name}"
                    _count(row.fields.setdefault(name, {}), value_class(f, f.get(call.fields[r.name])))
        if len({c.instruction for c in case.calls}) == 1:
            for name, value in case.classes.items():
                _count(self.instructions[case.calls[0].instruction].classes.setdefault(name, {}), value)

    def merge(self, other: ConformanceCoverage) -> None:
        """Add another account's figures."""
        for name, theirs in other.instructions.items():
            mine = self.instructions.setdefault(name, InstructionAccount())
            mine.cases += theirs.cases
            mine.executed += theirs.executed
            mine.refused += theirs.refused
            for counts in ("modes", "causes"):
                _sum(getattr(mine, counts), getattr(theirs, counts))
            for tables in ("fields", "classes"):
                for key, counts in getattr(theirs, tables).items():
                    _sum(getattr(mine, tables).setdefault(key, {}), counts)
        for key, row in other.settings.items():
            mine = self.settings.setdefault(key, SettingAccount())
            mine.calls, mine.bytes, mine.mismatches = (
                mine.calls + row.calls,
                mine.bytes + row.bytes,
                mine.mismatches + row.mismatches,
            )
        _sum(self.kinds, other.kinds)
        self.costs += other.costs
        self.means += other.means
        self.failures += other.failures
        for name in ("cases", "runs", "bits", "image_bytes", "cycles", "seconds"):
            setattr(self, name, getattr(self, name) + getattr(other, name))

    def save(self, path: Path) -> None:
        """Write JSON atomically. Raises FleetError."""
        _STORED.save(path, self)

    @classmethod
    def load(cls, path: Path) -> ConformanceCoverage:
        """Read what `save` wrote. Raises ModelError for any other file."""
        return _STORED.load(path)


_STORED = RecordFile(ConformanceCoverage, 2, "not an account of conformance", "account", indent=1)


def _count(counts: dict[str, int], key: str) -> None:
    counts[key] = counts.get(key, 0) + 1


def _sum(mine: dict[str, int], theirs: Mapping[str, int]) -> None:
    for key, n in Counter(theirs).items():
        mine[key] = mine.get(key, 0) + n
