"""The work of a sweep as a file that every process reads, and the figures that are kept by the content of a point.

A figure's key is a hash of everything that decides it: model and data, device and description, options, memory, the cost model, the
code, and for a point in RTL the hardware and the bench. So a killed sweep goes on without repeating a point, and an edit repeats
what it may have changed.
"""

from __future__ import annotations

import functools
import json
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Literal, TypeVar

from fleet.core.cache import cache_root
from fleet.core.codec import decode, encode_record
from fleet.core.files import read_table, write_table
from fleet.core.sealed import read_sealed, write_sealed
from fleet.cosim.device_figures import device_hash, hardware_hash
from fleet.cosim.identity import bench_hash, software_hash, text_hash
from fleet.errors import FleetError, SetupError
from fleet.isa.registry import description_hash, find_device
from fleet.isa.variants import sweepable
from fleet.sdk.hardware.state import evaluated
from fleet.sweep.language import LanguageSubject
from fleet.sweep.program import ProgramSubject
from fleet.sweep.records import EnergyShare, HardwareRecord, ModelRecord, QualityRecord, SweepPoint
from fleet.sweep.subject import Estimate, Subject, SubjectRequest

PointKind = Literal["model", "rtl"]
"""What is done at a point: the figures without hardware, or a run in RTL."""
_SHOWN = 32
_T = TypeVar("_T")


@dataclass(frozen=True)
class KeyedPoint:
    """A point to measure. kind: what is done. key: of its content."""

    kind: PointKind
    key: str
    point: SweepPoint

    @property
    def name(self) -> str:
        """Its name in records: "rtl hbm_small@Tin=128 group=64 memory=ideal"."""
        options = "".join(f" {name}={value}" for name, value in self.point.options.items())
        return f"{self.kind} {self.point.device}{options} memory={self.point.memory}"


@dataclass(frozen=True)
class SweepPlan:
    """The points of a session. subject: what they run."""

    subject: SubjectRequest
    points: tuple[KeyedPoint, ...]

    def save(self, path: Path) -> None:
        """Write the plan. Raises FleetError."""
        write_table(path, encode_record(self))

    @classmethod
    def load(cls, path: Path) -> SweepPlan:
        """Read a plan. Raises ModelError."""
        return decode(cls, read_table(path, "not a plan of a sweep"), str(path))


@functools.lru_cache(maxsize=2)
def subject_of(request: SubjectRequest) -> Subject:
    """Load what a request names; kept, because all points of a process run the same. Raises FleetError."""
    return LanguageSubject(request) if request.language else ProgramSubject(request)


@functools.cache
def _code() -> str:
    """Return the hash of the code that decides figures."""
    here = Path(__file__).parent
    return software_hash(here / "plan.py")


def _key(kind: str, subject: Subject, point: SweepPoint) -> str:
    instruction_set, device = find_device(point.device)
    parts: dict[str, object] = {
        "kind": kind, "subject": sorted(subject.content.items()), "device": device_hash(device),
        "description": description_hash(instruction_set, device), "options": sorted(point.options.items()), "code": _code(),
    }  # fmt: skip
    if kind != "quality":
        parts |= {"memory": point.memory, "constants": sweepable(device).path.read_bytes()}
    if kind == "rtl":
        parts |= {"hardware": hardware_hash(instruction_set, device), "bench": bench_hash()}
    return text_hash(*sorted(parts.items()))[:_SHOWN]


def point_key(kind: PointKind, request: SubjectRequest, point: SweepPoint) -> str:
    """Return the key of a point's figures, 32 hexadecimal digits. Raises FleetError."""
    return _key(kind, subject_of(request), point)


def _folder() -> Path:
    return cache_root() / "sweep"


def hardware_folder(key: str) -> Path:
    """Return the folder with the stored result of a run in RTL."""
    return _folder() / f"{key}.rtl"


def kept(key: str, cls: type[_T]) -> _T | None:
    """Return the stored figures of a key; None if nothing is stored or the file is damaged."""
    body = read_sealed(_folder() / f"{key}.json", key, "the figures of a point")
    return None if body is None else decode(cls, json.loads(body), key)


def _keep(key: str, record: ModelRecord | QualityRecord | HardwareRecord) -> None:
    """Store the figures of a key. Raises FleetError if the cache cannot be written: whoever asks next must find them."""
    folder = _folder()
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise FleetError(f"figures cannot be kept ({error.strerror})", where=str(folder)) from error
    write_sealed(folder / f"{key}.json", key, json.dumps(encode_record(record), allow_nan=False).encode())
    if not (folder / f"{key}.json").is_file():
        raise FleetError("figures cannot be kept", where=str(folder), hint="free space, or set FLEET_CACHE")


def measure(plan: SweepPlan, keyed: KeyedPoint) -> ModelRecord | HardwareRecord:
    """Return the figures of a point, and store them under its key. Raises FleetError if they cannot be had here."""
    subject = subject_of(plan.subject)
    if keyed.kind == "rtl":
        record: ModelRecord | HardwareRecord = subject.hardware(keyed.point, hardware_folder(keyed.key))
    else:
        record = _modelled(subject, keyed.point)
    _keep(keyed.key, record)
    return record


def _modelled(subject: Subject, point: SweepPoint) -> ModelRecord:
    _, device = find_device(point.device)
    space = sweepable(device)
    try:
        estimate = subject.estimate(point)
        quality = _quality(subject, point)
    except SetupError:
        raise
    except FleetError as error:  # the device cannot run the model: a figure of the point like any other
        return ModelRecord(refused=str(error), clock_mhz=device.clock_mhz)
    energy = tuple(
        EnergyShare(cost.what, count, count * cost.picojoules)
        for cost in space.energy
        if (count := estimate.counters.get(cost.counter, 0.0))
    )
    cells: dict[str, float] = {}
    for part in space.area:
        count = evaluated(part.count, device.parameters)
        for kind, number in part.cells.items():
            cells[kind] = cells.get(kind, 0.0) + count * number
    return ModelRecord(
        cycles=estimate.counters["cycles_estimate"], clock_mhz=device.clock_mhz, host_share=estimate.host_share,
        counters=_own(estimate), energy=energy, cells=cells, quality=quality,
    )  # fmt: skip


def _own(estimate: Estimate) -> Mapping[str, float]:
    """Return the counters without those of single ports."""
    return {name: value for name, value in estimate.counters.items() if "." not in name}


def _quality(subject: Subject, point: SweepPoint) -> QualityRecord:
    """Return what the functional model keeps; points that differ only in their memory share it."""
    key = _key("quality", subject, point)
    found = kept(key, QualityRecord)
    if found is None:
        found = subject.quality(point)
        _keep(key, found)
    return found
