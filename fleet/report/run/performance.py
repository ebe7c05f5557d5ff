"""Cycles, traffic and instruction counts of a result, grouped by operation. Pure functions of stored figures.

An instruction may implement several operations (a matrix product with its bias, residual and ReLU). Its cost counts for the last of
them, the one whose value it writes.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from fleet.compare.diverged import CommitRow
from fleet.compare.verdict import Comparison
from fleet.core.codec import decode
from fleet.core.records.code_profile import HotBlock, StoredProfile
from fleet.cosim.result import CosimResult
from fleet.cosim.what_ran import EngineRun

_TRAFFIC: Mapping[str, str] = {
    "hbm_read_bytes": "HBM, read",
    "hbm_write_bytes": "HBM, written",
    "ddr_read_bytes": "DDR, read",
    "ddr_write_bytes": "DDR, written",
}


@dataclass(frozen=True)
class OperationCost:
    """All commits of one operation (or fused group) together.

    Attributes:
        op: the operation that the instructions write. ops: all that they implement.
        instructions: names, each once. commits: how many.
        cycles: sum of `classes`; None without a clock. classes: class -> cycles.
        macs, macs_issued: useful, and with padding; None if the unit has none.
        model_cycles: of the functional cost model; None without one.
        least_bytes: memory ("hbm") -> bytes that its operands hold there; empty if unknown.
        peak: MACs per cycle of the array; None if unknown.
    """

    op: str
    ops: tuple[str, ...]
    instructions: tuple[str, ...]
    commits: int
    cycles: int | None
    classes: Mapping[str, int]
    macs: int | None
    macs_issued: int | None
    model_cycles: int | None
    least_bytes: Mapping[str, int]
    peak: float | None

    @property
    def useful(self) -> float | None:
        """Fraction of the array's MAC slots that do useful work; None without cycles, MACs or a peak."""
        return self._share(self.macs)

    @property
    def padding(self) -> float | None:
        """Fraction of the slots that are spent on padding."""
        return self._share(None if self.macs is None or self.macs_issued is None else self.macs_issued - self.macs)

    @property
    def idle(self) -> float | None:
        """Fraction of the slots in which nothing was issued."""
        issued = self._share(self.macs_issued)
        return None if issued is None else max(0.0, 1.0 - issued)

    def _share(self, macs: int | None) -> float | None:
        return macs / (self.cycles * self.peak) if macs is not None and self.cycles and self.peak else None


@dataclass(frozen=True)
class Traffic:
    """Bytes that an engine moved through one memory, and the least that its instructions' operands hold."""

    memory: str
    counter: str
    moved: float
    least: float | None
    cycles: int | None
    bytes_per_cycle: float | None

    @property
    def over(self) -> float | None:
        """Bytes moved / least bytes."""
        return self.moved / self.least if self.least else None

    @property
    def bandwidth_used(self) -> float | None:
        """Fraction of the memory's bandwidth over the whole run."""
        return self.moved / (self.cycles * self.bytes_per_cycle) if self.cycles and self.bytes_per_cycle else None


@dataclass(frozen=True)
class CodeProfile:
    """An engine's instructions by place (`fleet.core.records.code_profile`).

    Attributes:
        kinds: in the order of the table's columns.
        operations: (id, instructions, instructions per multiply-add or None, share of each kind), most instructions first.
        more: number of operations left out. blocks: the hottest.
    """

    kinds: tuple[str, ...]
    operations: tuple[tuple[str, int, float | None, tuple[float, ...]], ...]
    more: int
    blocks: tuple[HotBlock, ...]


def code_profile(engine: EngineRun, most: int = 40) -> CodeProfile | None:
    """Return the profile that an engine states in `meta["riscv_profile"]`, or None."""
    stated = engine.meta.get("riscv_profile")
    if not stated:
        return None
    found = decode(StoredProfile, stated, f"engine {engine.name}", "riscv_profile")
    rows = sorted(found.operations, key=lambda o: -o.instructions)
    kinds = tuple(dict.fromkeys(kind for row in rows for kind in row.kinds))
    operations = tuple(
        (
            row.id,
            row.instructions,
            row.instructions / row.macs if row.macs else None,
            tuple(row.kinds.get(kind, 0) / max(1, row.instructions) for kind in kinds),
        )
        for row in rows[:most]
    )
    return CodeProfile(kinds, operations, max(0, len(rows) - most), found.blocks)


def commits_of(result: CosimResult) -> tuple[Comparison, tuple[CommitRow, ...]] | None:
    """Return the comparison that holds commits, preferably one with a clock; None if no instruction was compared."""
    found = [c for c in result.comparisons if c.commits]
    found.sort(key=lambda c: not any(row.cycles for row in c.commits))
    return (found[0], found[0].commits) if found else None


def clocked(result: CosimResult) -> EngineRun | None:
    """Return the engine whose cycles the page shows: the hardware, else any with a clock, else None."""
    ran = [e for e in result.engines if e.status == "ran" and e.cycles is not None]
    ran.sort(key=lambda e: not any(key.startswith("hbm_port_bytes.") for key in e.counters))
    return ran[0] if ran else None


def operation_costs(result: CosimResult) -> tuple[OperationCost, ...]:
    """Group commits by the operation that they write, in program order of their first commit."""
    found = commits_of(result)
    groups: dict[str, list[CommitRow]] = {}
    for row in found[1] if found else ():
        groups.setdefault(row.ops[-1] if row.ops else row.instruction, []).append(row)
    device = result.identity.device
    peak = device.limits.get("macs_per_cycle") if device else None
    return tuple(_cost(op, rows, peak) for op, rows in groups.items())


def cycle_classes(costs: Sequence[OperationCost]) -> tuple[str, ...]:
    """Return the classes in the result's order of hardware counters, including empty ones, because their colours depend on it."""
    return tuple(dict.fromkeys(name for cost in costs for name in cost.classes))


def _cost(op: str, rows: Sequence[CommitRow], peak: float | None) -> OperationCost:
    classes: dict[str, int] = {}
    for row in rows:
        for name, cycles in row.cycles.items():
            classes[name] = classes.get(name, 0) + cycles
    return OperationCost(
        op=op,
        ops=tuple(dict.fromkeys(name for row in rows for name in row.ops)),
        instructions=tuple(dict.fromkeys(row.instruction for row in rows)),
        commits=len(rows),
        cycles=sum(classes.values()) if classes else None,
        classes=classes,
        macs=_sum([row.macs for row in rows]),
        macs_issued=_sum([row.macs_issued for row in rows]),
        model_cycles=_sum([row.model_cycles for row in rows]),
        least_bytes=_least(rows),
        peak=peak,
    )


def _least(rows: Sequence[CommitRow]) -> Mapping[str, int]:
    """Return the bytes by memory, reads and writes together; empty if a commit lacks them."""
    if not all(row.least_bytes for row in rows):
        return {}
    found: dict[str, int] = {}
    for row in rows:
        for key, size in row.least_bytes.items():
            memory = key.rsplit("_", 1)[0]
            found[memory] = found.get(memory, 0) + size
    return found


def traffic(result: CosimResult) -> tuple[Traffic, ...]:
    """Return the bytes by memory of the clocked engine; empty if it counted none."""
    engine = clocked(result)
    if engine is None:
        return ()
    limits = result.identity.device.limits if result.identity.device else {}
    found = commits_of(result)
    rows = found[1] if found else ()

    def least(counter: str) -> float | None:
        key = counter.removesuffix("_bytes")
        return _sum([row.least_bytes.get(key, 0) if row.least_bytes else None for row in rows])

    return tuple(
        Traffic(
            memory=text,
            counter=counter,
            moved=engine.counters[counter],
            least=least(counter),
            cycles=engine.cycles,
            bytes_per_cycle=limits.get(f"{counter.split('_', 1)[0]}_bytes_per_cycle"),
        )
        for counter, text in _TRAFFIC.items()
        if counter in engine.counters
    )


def port_bytes(result: CosimResult) -> tuple[float, ...]:
    """Return the bytes moved by each HBM port of the clocked engine, in port order; empty if it did not count."""
    engine = clocked(result)
    prefix = "hbm_port_bytes."
    found = {
        key.removeprefix(prefix): value for key, value in (engine.counters if engine else {}).items() if key.startswith(prefix)
    }
    ports = sorted((int(port), value) for port, value in found.items() if port.isdigit())
    return tuple(value for _, value in ports)


def instruction_counts(engine: EngineRun) -> Mapping[str, float]:
    """Return operation id -> instructions retired, in the engine's order; empty if the engine does not count by operation."""
    prefix = "instructions."
    return {key.removeprefix(prefix): value for key, value in engine.counters.items() if key.startswith(prefix)}


def _sum(values: Sequence[int | None]) -> int | None:
    known = [v for v in values if v is not None]
    return sum(known) if len(known) == len(values) and known else None
