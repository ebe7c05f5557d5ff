"""What a sweep stores: points, their figures, and the outcome as a whole."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from fleet.core.codec import MAY_BE_MISSING
from fleet.sdk.hardware.device import ClockEstimate
from fleet.sdk.hardware.sweepable import CellCount, CostError, EnergyCost


@dataclass(frozen=True)
class SweepAxis:
    """One axis. name: a hardware parameter, a compile option or "memory". values: as given, in their order."""

    name: str
    values: tuple[str, ...]


@dataclass(frozen=True)
class SweepPoint:
    """One choice.

    values: axis -> value. device: name of the variant ("hbm_small@Tin=128"). memory: model of the memories.
    options: compile option -> value.
    """

    values: Mapping[str, str]
    device: str
    memory: str
    options: Mapping[str, int]

    @property
    def label(self) -> str:
        """The values as text: "Tin=128 group=64 memory=ideal"."""
        return " ".join(f"{name}={value}" for name, value in self.values.items()) or self.device


@dataclass(frozen=True)
class LeftOut:
    """A combination of values that the hardware cannot have. rule: why."""

    values: Mapping[str, str]
    rule: str


@dataclass(frozen=True)
class Quality:
    """A figure of what the device's arithmetic keeps. higher: whether more is better. unit: "dB", "%" or ""."""

    name: str
    value: float
    unit: str
    higher: bool


@dataclass(frozen=True)
class QualityRecord:
    """What the functional model computed, beside the golden.

    figures: the first one is compared between points. verdict: of the comparison with derived bounds ("pass", "fail", ...).
    """

    figures: tuple[Quality, ...]
    verdict: str
    reasons: tuple[str, ...] = ()


@dataclass(frozen=True)
class EnergyShare:
    """A part of the energy. count: how often; picojoules: of all of them."""

    what: str
    count: float
    picojoules: float


@dataclass(frozen=True)
class ModelRecord:
    """Figures of a point without hardware.

    Attributes:
        refused: why the device cannot run the model; empty if it can, and then the other fields have values.
        cycles: the cost model's sum over all instructions. clock_mhz: of the device file; no estimate.
        host_share: fraction of the multiply-accumulates that stay on the host.
        counters: counts by name (`fleet.engines.accel_counters`).
        energy: by part. cells: kind -> number, of the parts that were synthesised; empty if none was.
        quality: of the arithmetic; None if refused.
    """

    refused: str = ""
    cycles: float = 0.0
    clock_mhz: float = 0.0
    host_share: float = 0.0
    counters: Mapping[str, float] = field(default_factory=dict[str, float])
    energy: tuple[EnergyShare, ...] = ()
    cells: Mapping[str, float] = field(default_factory=dict[str, float])
    quality: QualityRecord | None = None

    @property
    def microseconds(self) -> float:
        """Time of the cycles at the device file's clock."""
        return self.cycles / self.clock_mhz if self.clock_mhz else 0.0

    @property
    def microjoules(self) -> float:
        """Energy of all parts."""
        return sum(part.picojoules for part in self.energy) / 1e6


@dataclass(frozen=True)
class HardwareRecord:
    """A point in RTL.

    Attributes:
        cycles: of the run, from its first cycle to its last.
        instruction_cycles: from start to commit, summed over the instructions: what the cost model estimates. Of a binary, whose
            instructions overlap, from the first start to the last commit.
        estimate: the cost model's cycles for the instructions that ran.
        verdict, reasons: of the run; every bit is compared with the functional model.
        page: the run's report, relative to the sweep's folder; empty without one.
    """

    cycles: int
    instruction_cycles: int
    estimate: float
    verdict: str
    reasons: tuple[str, ...] = ()
    page: str = ""

    @property
    def off(self) -> float:
        """Relative error of the estimate: positive if the model expects more cycles than the hardware takes."""
        return self.estimate / self.instruction_cycles - 1 if self.instruction_cycles else 0.0


@dataclass(frozen=True)
class SweptPoint:
    """A point with what is known of it. key: of its content. front: whether it is on the front of its memory.

    error: why it has no figures; empty if it has.
    """

    point: SweepPoint
    key: str
    model: ModelRecord | None = None
    hardware: HardwareRecord | None = None
    front: bool = False
    error: str = ""

    @property
    def refused(self) -> str:
        """Why the point has no figures of the model; empty if it has."""
        return self.error or "not measured" if self.model is None else self.model.refused


@dataclass(frozen=True)
class SweepOutcome:
    """A sweep.

    Attributes:
        model, device: as given; device is the base of the variants. command: repeats it. date: ISO 8601.
        scope: what one run of the model is ("360 rows", "one token behind 40").
        axes, points, left_out: points in the order of the axes, the last one fastest.
        objectives: names of the figures that decide the front, in words.
        errors, energy, area: what the set states, with sources.
        computed, kept: numbers of points that ran now, and whose figures were kept from earlier.
        verdict, reasons: "pass" if nothing differs.
        clock: what the RTL of the device itself is estimated to reach; None if nothing is known.
    """

    model: str
    device: str
    instruction_set: str
    scope: str
    command: str
    date: str
    axes: tuple[SweepAxis, ...]
    points: tuple[SweptPoint, ...]
    left_out: tuple[LeftOut, ...]
    objectives: tuple[str, ...]
    errors: tuple[CostError, ...]
    energy: tuple[EnergyCost, ...]
    area: tuple[CellCount, ...]
    computed: int
    kept: int
    verdict: str
    reasons: tuple[str, ...]
    clock: ClockEstimate | None = field(default=None, metadata=MAY_BE_MISSING)

    @property
    def runnable(self) -> tuple[SweptPoint, ...]:
        """The points that have figures."""
        return tuple(p for p in self.points if not p.refused)
