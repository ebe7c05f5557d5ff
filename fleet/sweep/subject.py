"""What a sweep runs at each point: a program with data, or a language model. A process rebuilds it from its request."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

from fleet.engines.accel_counters import call_counters
from fleet.errors import DeviceError
from fleet.ir.lowering_options import LoweringOptions
from fleet.sdk import Call, Device, InstructionSet
from fleet.sweep.records import HardwareRecord, QualityRecord, SweepPoint


@dataclass(frozen=True)
class SubjectRequest:
    """What to run, as a user asks for it; paths as given.

    Attributes:
        model: a program ("model.py:forward"), or with `language` a language model ("tiny").
        weights, input, labels: files, or None. seed, batch: as for `fleet cosim`.
        language: whether it is a language model. positions: slots of its cache. behind: cached tokens before the timed one.
        tokens: of the bundled text, on which perplexity is measured. rounding: of its weights; "" for the usual one.
    """

    model: str
    weights: str | None = None
    input: str | None = None
    labels: str | None = None
    seed: int = 0
    batch: int | None = None
    language: bool = False
    positions: int = 128
    behind: int = 40
    tokens: int = 64
    rounding: str = ""


@dataclass(frozen=True)
class Estimate:
    """Figures that follow from the instructions. counters: by name; "cycles_estimate" is the cost model's sum.

    host_share: fraction of the multiply-accumulates that stay on the host.
    """

    counters: Mapping[str, float]
    host_share: float


class Subject(Protocol):
    """A model that points run."""

    @property
    def content(self) -> Mapping[str, str]:
        """What decides the figures beside device, options and memory: name -> hash or text."""
        ...

    @property
    def scope(self) -> str:
        """What one run is, in words."""
        ...

    def estimate(self, point: SweepPoint) -> Estimate:
        """Compile for a point. Raises FleetError if its device cannot run or hold the model."""
        ...

    def quality(self, point: SweepPoint) -> QualityRecord:
        """Run the functional model beside the golden; `point.memory` does not matter. Raises FleetError."""
        ...

    def hardware(self, point: SweepPoint, folder: Path) -> HardwareRecord:
        """Run a point in RTL, compare every bit, and store the result in a folder. Raises FleetError."""
        ...


def lowering_of(point: SweepPoint) -> LoweringOptions:
    """Return a point's compile options."""
    return LoweringOptions.of(dict(point.options), "--over")


def check_estimate(instruction_set: InstructionSet, device: Device, calls: Iterable[Call], memory: str) -> dict[str, float]:
    """Return the counters of calls. Raises DeviceError if the cost model has no figure for the memory model."""
    kind, made = memory.partition(":")[0], tuple(calls)
    for call in made:
        cls = instruction_set.instructions[call.instruction]
        if cls.expected_cycles(device, call.fields, kind) is None and cls.expected_cycles(device, call.fields) is not None:
            what = f"the cost model of {call.instruction} has no cycles for memory {kind}"
            raise DeviceError(what, where="--over", hint="sweep ideal or timed memory, or run one device with fleet cosim")
    return call_counters(instruction_set, device, made, memory)
