"""The section "Cycles and traffic" of a run's page: costs of operations, pictures, instructions of engines without a clock."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from markupsafe import Markup

from fleet.cosim.result import CosimResult
from fleet.cosim.what_ran import EngineRun
from fleet.report.frame.cut import CutRows
from fleet.report.pictures.performance_pictures import RooflinePoint, bars, port_balance, roofline, stacked_bars
from fleet.report.pictures.timeline import spans_of, timeline
from fleet.report.run import performance
from fleet.report.run.accuracy_section import TABLE_ROWS

PICTURE_ROWS = 30


@dataclass(frozen=True)
class RetiredInstructions:
    """Instructions that an engine retired, by operation: a picture and rows of (operation, instructions, share)."""

    engine: EngineRun
    picture: Markup
    rows: CutRows[tuple[str, float, float]]
    profile: performance.CodeProfile | None


@dataclass(frozen=True)
class CyclesSection:
    """The section's values; a picture is None if the result lacks its figures.

    Attributes:
        clock: the engine whose cycles are shown, or None.
        costs: by operation, for the table. in_pictures: the costliest. numbers: operation -> its number in table and pictures.
        total: cycles of all operations. seconds: of the run on the device; None without a clock.
        port_spread: traffic of the busiest port / the mean; None without traffic.
    """

    clock: EngineRun | None
    costs: CutRows[performance.OperationCost]
    in_pictures: CutRows[performance.OperationCost]
    numbers: Mapping[str, int]
    total: int
    traffic: tuple[performance.Traffic, ...]
    timeline: Markup | None
    cycles: Markup | None
    utilisation: Markup | None
    roofline: Markup | None
    ports: Markup | None
    port_spread: float | None
    instructions: tuple[RetiredInstructions, ...]
    seconds: float | None


def cycles_section(result: CosimResult) -> CyclesSection:
    """Return the section of a result."""
    costs = performance.operation_costs(result)
    clock = performance.clocked(result)
    device = result.identity.device
    costly = _costly([c for c in costs if c.cycles])
    commits = performance.commits_of(result)
    spans = spans_of(commits[1]) if commits else ()
    known = [c for c in costly if c.useful is not None and c.padding is not None]
    # A device without multipliers (macs_per_cycle = 0) has no roofline.
    has_roofline = device and device.limits.get("macs_per_cycle", 0) > 0 and any(c.least_bytes for c in costly)
    ports = performance.port_bytes(result)
    return CyclesSection(
        clock=clock,
        costs=CutRows(_costly(costs, TABLE_ROWS), len(costs)),
        in_pictures=CutRows(costly, sum(1 for c in costs if c.cycles)),
        numbers={c.op: i + 1 for i, c in enumerate(costs)},
        total=sum(c.cycles or 0 for c in costs),
        traffic=performance.traffic(result),
        timeline=Markup(timeline(spans)) if spans else None,
        cycles=_cycles(costly) if costly else None,
        utilisation=_utilisation(known) if known else None,
        roofline=_roofline(result, costs, costly) if has_roofline else None,
        ports=Markup(port_balance(ports)) if ports else None,
        port_spread=max(ports) * len(ports) / sum(ports) if sum(ports) else None,
        instructions=tuple(_instructions(result)),
        seconds=clock.cycles / (device.clock_mhz * 1e6) if clock and clock.cycles and device else None,
    )


def _instructions(result: CosimResult) -> Iterator[RetiredInstructions]:
    for i, engine in enumerate(result.engines):
        if counts := performance.instruction_counts(engine):
            most = sorted(counts, key=lambda op: counts[op], reverse=True)[:PICTURE_ROWS]
            order = [op for op in counts if op in set(most)]
            picture = bars(
                order, [counts[op] for op in order], "instructions retired", f"instructions-{i}", "Instructions by operation."
            )
            rows = [(op, counts[op], counts[op] / (sum(counts.values()) or 1.0)) for op in order]
            yield RetiredInstructions(engine, Markup(picture), CutRows(rows, len(counts)), performance.code_profile(engine))


def _costly(costs: Sequence[performance.OperationCost], most: int = PICTURE_ROWS) -> list[performance.OperationCost]:
    keep = {c.op for c in sorted(costs, key=lambda c: c.cycles or 0, reverse=True)[:most]}
    return [c for c in costs if c.op in keep]


def _cycles(costs: Sequence[performance.OperationCost]) -> Markup:
    known = performance.cycle_classes(costs)
    parts = {name.replace("_", " "): [float(cost.classes.get(name, 0)) for cost in costs] for name in known}
    longest = max(costs, key=lambda c: c.cycles or 0)
    text = f"Cycles by operation and class; most in {longest.op} with {longest.cycles:,}."
    return Markup(stacked_bars([c.op for c in costs], parts, "cycles", "cycles", text))


def _utilisation(costs: Sequence[performance.OperationCost]) -> Markup:
    parts = {
        "useful": [100 * (c.useful or 0.0) for c in costs],
        "padding": [100 * (c.padding or 0.0) for c in costs],
        "nothing issued": [100 * (c.idle or 0.0) for c in costs],
    }
    ends = [f"{100 * (c.useful or 0.0):.3g} %" for c in costs]
    text = "Share of the array's multiply-accumulate slots: useful, padding, nothing issued."
    return Markup(
        stacked_bars([c.op for c in costs], parts, "% of the array's MAC slots", "utilisation", text, ends, "nothing issued")
    )


def _roofline(
    result: CosimResult, costs: Sequence[performance.OperationCost], costly: Sequence[performance.OperationCost]
) -> Markup:
    device = result.identity.device
    assert device is not None
    suffix = "_bytes_per_cycle"
    bandwidths = {k.removesuffix(suffix).upper(): v for k, v in device.limits.items() if k.endswith(suffix) and v > 0}
    keep = {c.op for c in costly}
    points = [
        RooflinePoint(i + 1, float(c.macs or 0), float(c.cycles or 0), {m.upper(): float(n) for m, n in c.least_bytes.items()})
        for i, c in enumerate(costs)
        if c.op in keep
    ]
    return Markup(roofline(points, device.limits.get("macs_per_cycle", 1.0), bandwidths))
