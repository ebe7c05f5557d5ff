"""A sweep from its request to its outcome."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace

from fleet.cosim.run_request import RunRequest
from fleet.errors import DeviceError, ExitCode, heaviest
from fleet.isa.registry import find_device
from fleet.isa.variants import sweepable
from fleet.sweep.axes import read_axes, spanned
from fleet.sweep.front import best, objectives, with_front
from fleet.sweep.plan import KeyedPoint, SweepPlan, hardware_folder, kept, point_key, subject_of
from fleet.sweep.records import HardwareRecord, ModelRecord, SweepOutcome, SweptPoint
from fleet.sweep.session import Executor, Failure, run_points
from fleet.sweep.subject import SubjectRequest

Progress = Callable[[float, str], None]


@dataclass(frozen=True)
class SweepRequest:
    """A sweep as it is asked for.

    subject: what runs. device: the base of the variants. axes: texts such as "Tin=64,128". hardware: how many points run in RTL.
    """

    subject: SubjectRequest
    device: str
    axes: tuple[str, ...]
    hardware: int = 0
    executor: Executor = field(default_factory=Executor)
    date: str = ""
    request: RunRequest | None = None


def sweep(request: SweepRequest, progress: Progress) -> tuple[SweepOutcome, ExitCode]:
    """Measure all points, find the front, run the best in RTL.

    progress: called with a fraction and words.

    Raises:
        FleetError: bad axes or values, or a model that cannot be loaded. What goes wrong at a point is in the outcome.
    """
    instruction_set, device = find_device(request.device)
    axes = read_axes(request.axes, device)
    points, left_out = spanned(device, axes)
    subject_of.cache_clear()  # files may have changed since
    subject = subject_of(request.subject)
    keyed = [KeyedPoint("model", point_key("model", request.subject, p), p) for p in points]
    before = sum(kept(k.key, ModelRecord) is not None for k in keyed)
    failures = dict(run_points(SweepPlan(request.subject, tuple(keyed)), request.executor, progress))
    computed = len(keyed) - before - len(failures)
    swept = [SweptPoint(k.point, k.key, kept(k.key, ModelRecord)) for k in keyed]
    names = objectives(swept)
    fronted = with_front(swept, names)
    if request.hardware:
        built, broken = _in_hardware(request, best(fronted, request.hardware), progress)
        fronted = tuple(replace(p, hardware=built.get(p.key)) for p in fronted)
        failures |= broken
    fronted = tuple(replace(p, error=failures[p.key].error) if p.key in failures else p for p in fronted)
    if not any(p.model is not None and not p.model.refused for p in fronted) and not failures:
        first = next(p.model.refused for p in fronted if p.model is not None)
        raise DeviceError(f"no point can run the model: {first}", where=request.device)
    verdict, reasons, code = _verdict(fronted, failures, request.hardware)
    space = sweepable(device)
    outcome = SweepOutcome(
        request.subject.model, device.name, instruction_set.name, subject.scope, str(request.request or ""), request.date, axes,
        fronted, left_out, names, space.errors, space.energy, space.area, computed, before, verdict, reasons,
        device.clock_estimate,
    )  # fmt: skip
    return outcome, code


def _in_hardware(
    request: SweepRequest, chosen: Sequence[SweptPoint], progress: Progress
) -> tuple[dict[str, HardwareRecord], dict[str, Failure]]:
    """Run points in RTL; return key of the point -> its record, and key -> why it has none."""
    keys = {p.key: KeyedPoint("rtl", point_key("rtl", request.subject, p.point), p.point) for p in chosen}
    failures = run_points(SweepPlan(request.subject, tuple(keys.values())), request.executor, progress)
    found = {key: kept(k.key, HardwareRecord) for key, k in keys.items()}
    records = {key: replace(r, page=str(hardware_folder(keys[key].key))) for key, r in found.items() if r is not None}
    return records, {key: failures[k.key] for key, k in keys.items() if k.key in failures}


def _verdict(points: Sequence[SweptPoint], failures: Mapping[str, Failure], hardware: int) -> tuple[str, tuple[str, ...], ExitCode]:
    """Return verdict, reasons and exit code. failures: by the key of the point. hardware: how many points were to run in RTL."""
    codes: list[int] = [f.code for f in failures.values()]
    reasons = [f.error for f in failures.values()]
    for p in points:
        quality = p.model.quality if p.model is not None else None
        for what, found in (("iss", quality), ("rtl", p.hardware)):
            if found is not None and found.verdict != "pass":
                codes.append(ExitCode.DIFFERS if found.verdict == "fail" else ExitCode.INCOMPLETE)
                reasons.append(f"{p.point.label}: {what}: {found.verdict}: {'; '.join(found.reasons[:2])}")
    built = sum(p.hardware is not None for p in points)
    able = sum(p.model is not None and not p.model.refused for p in points)
    if built < min(hardware, able) and not failures:
        codes.append(ExitCode.INCOMPLETE)
        reasons.append(f"{built} points ran in RTL, {hardware} were asked for")
    code = heaviest(codes)
    word = "pass" if code == ExitCode.AGREED else "fail" if code == ExitCode.DIFFERS else "incomplete"
    return word, tuple(reasons), code
