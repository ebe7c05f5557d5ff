"""The values of the page's templates: figures, tables cut to a readable length, and the pictures made of them."""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

from markupsafe import Markup

from fleet.compare.diverged import CommitRow
from fleet.compare.measured import OperationRow
from fleet.compare.verdict import Comparison, TaskMetric
from fleet.compare.ways import NORM
from fleet.cosim.result import CosimResult
from fleet.cosim.what_ran import EngineRun
from fleet.report.frame import images
from fleet.report.frame.source_lines import anchors, case_file, model_file, sources
from fleet.report.frame.text import count, number, percent, times
from fleet.report.regression.changes import DependencyChange, changes, compared_with
from fleet.report.run import accuracy, error_causes, performance
from fleet.report.run.accuracy_pictures import sqnr_by_depth, ulp_distribution
from fleet.report.run.diff import Figure, diff
from fleet.report.run.gaps import gaps, grouped
from fleet.report.run.headline import engine_title, headline, worst_operation
from fleet.report.run.performance_pictures import RooflinePoint, bars, port_balance, roofline, stacked_bars
from fleet.report.run.proved import proved
from fleet.report.run.scores import scores
from fleet.report.run.timeline import spans_of, timeline

__all__ = ["context"]

TABLE_ROWS = 50
"""Longest table of a page; report.json holds all rows."""
PASSED_ROWS = 20
"""Longest table of a comparison in which nothing failed; the page shows it folded."""
PICTURE_ROWS = 30
DEPTH_POINTS = 100
FLIPS_SHOWN = 24
MOVED_ROWS = 20
_BOTH = "both causes together, against golden"


@dataclass(frozen=True)
class _Cut:
    """The rows that are shown, and the number of all rows."""

    rows: Sequence[Any]
    total: int

    @property
    def cut(self) -> bool:
        return len(self.rows) < self.total


def context(result: CosimResult, previous: CosimResult | None) -> dict[str, Any]:
    """Return the values of the whole page. previous: the run that this one is compared with, or None."""
    differences = changes(previous, result) if previous else ()
    shown, found = _performance(result), scores(result, FLIPS_SHOWN)
    numbers = {op: shown["numbers"][c.op] for c in shown["costs"].rows for op in c.ops} | {
        c.op: shown["numbers"][c.op] for c in shown["costs"].rows
    }
    return {
        "result": result,
        "title": result.identity.case or result.identity.model,
        "rows": headline(result),
        "previous": compared_with(previous) if previous else None,
        "previous_verdict": previous.verdict if previous else None,
        "changed": [c for c in differences if c.changed],
        "unchanged": _unchanged(differences),
        "moved": _moved(previous, result) if previous else None,
        "proved": proved(result),
        "gaps": gaps(result),
        "gap_groups": grouped(result),
        "norm": NORM,
        "accuracy": _accuracy(result),
        "flips": _all_flips(result),
        "agreeing": [task for task in result.tasks if not task.flips],
        "performance": shown,
        "bits": [_bits(c) for c in result.comparisons if c.kind == "bits"],
        "numbers": numbers,
        "first_commit": _first_commits(result),
        "lines": anchors(result),
        "sources": sources(result),
        "model_file": model_file(result),
        "case_file": case_file(result),
        "scores": found,
        "sampled": {s.index for s in found},
        "source": defaultdict(str, {row.op: row.at for c in result.comparisons for row in c.operations}),
        "names": _register_names(result),
        "host": _host(result),
        "classes": performance.cycle_classes(performance.operation_costs(result)),
    }


def _cut(rows: Sequence[Any], most: int = TABLE_ROWS) -> _Cut:
    return _Cut(rows[:most], len(rows))


def _accuracy(result: CosimResult) -> dict[str, Any]:
    found, rows = accuracy.causes(result)
    pictures: list[tuple[str, Markup]] = []
    exact: list[str] = []
    drawn = accuracy.thinned(rows, DEPTH_POINTS)
    series = {
        "quantisation: weights as stored against golden": [accuracy.sqnr(r.quantisation) for r in drawn],
        "arithmetic, from the inputs on": [accuracy.sqnr(r.arithmetic) for r in drawn],
        "arithmetic, this operation alone": [accuracy.sqnr(r.arithmetic, "local") for r in drawn],
        _BOTH: [accuracy.sqnr(r.total) for r in drawn],
    }
    series = {text: values for text, values in series.items() if any(v is not None for v in values)}
    depth = Markup(sqnr_by_depth([r.op for r in drawn], series, "sqnr", _BOTH)) if series else None
    for i, comparison in enumerate(c for c in result.comparisons if c.kind == "bound"):
        floats = tuple(r for r in comparison.operations if accuracy.has_ulps(r))
        differing = tuple(r for r in floats if r.cumulative.ulp_max > 0 or r.cumulative.ulp_max != r.cumulative.ulp_max)
        if floats and not differing:
            exact.append(_no_distance(comparison, floats))
        worst = worst_operation(replace(comparison, operations=differing))
        if worst is None or worst.bound is None or not worst.cumulative.ulp_counts:
            continue
        edges, counts = accuracy.histogram(worst.cumulative, worst.bound.ulp_median)
        unit = f"ULP of {worst.cumulative.ulp_dtype}" if worst.cumulative.ulp_dtype else "units"
        text = f"{comparison.other} against {engine_title(comparison.reference)}, at {worst.op}"
        exactly = f"; {len(floats) - len(differing)} of its {len(floats)} operations are 0 ULP away everywhere"
        picture = ulp_distribution(edges, {text: counts}, worst.bound.ulp_median, unit, f"ulp-{i}")
        pictures.append((text + (exactly if len(differing) < len(floats) else ""), Markup(picture)))
    return {
        "causes": found,
        "rows": _by_cause(rows),
        "sentences": error_causes.sentences(result),
        "depth": depth,
        "thinned": len(drawn) < len(rows),
        "ulp": pictures,
        "exact": exact,
        "tables": [_operations(c) for c in result.comparisons if c.operations],
    }


def _no_distance(comparison: Comparison, floats: Sequence[OperationRow]) -> str:
    """Return the sentence that replaces a histogram with one bar at zero."""
    elements = sum(r.cumulative.elements for r in floats)
    sides = f"{engine_title(comparison.other)} and {engine_title(comparison.reference)}"
    if not any(r.cumulative.mismatches for r in floats):
        return f"{sides} are identical: no float of {elements:,} differs."
    return f"{sides} differ by less than the dtype holds: 0 ULP of {floats[0].cumulative.ulp_dtype} in all {elements:,} floats."


def _unchanged(differences: Sequence[DependencyChange]) -> list[str]:
    """Return what did not change; device parameters and tools as one entry each if none of them changed."""
    same = [c.what for c in differences if not c.changed and c.after is not None]
    changed = [c.what for c in differences if c.changed]
    for start, together in (("parameter ", "device parameters"), ("tool ", "tools")):
        own = [what for what in same if what.startswith(start)]
        if own and not any(what.startswith(start) for what in changed):
            same = [together if what == own[0] else what for what in same if what == own[0] or what not in own]
    return same


def _moved(before: CosimResult, after: CosimResult) -> _Cut:
    """Return the figures that changed, as (what, then, now, ratio).

    Accuracy, cycles, traffic, and the largest move of an error in each comparison.
    """
    found = diff(before, after)
    largest: dict[str, Figure] = {}
    for figure in (f for f in found.errors if f.changed):
        name = figure.what.split(" ", 1)[0]
        if name not in largest or _move(figure) > _move(largest[name]):
            largest[name] = figure
    rows = [
        (figure.what, write(figure.before), write(figure.after), times(figure.ratio) if figure.ratio is not None else "")
        for figures, write in ((found.accuracy, percent), (found.cycles, count), (tuple(largest.values()), number))
        for figure in figures
        if figure.changed
    ]
    return _Cut(rows[:MOVED_ROWS], sum(f.changed for f in (*found.accuracy, *found.cycles, *found.errors)))


def _move(figure: Figure) -> float:
    """Return how far a figure moved, in either direction; infinite without a ratio."""
    return abs(math.log(figure.ratio)) if figure.ratio is not None and figure.ratio > 0 else math.inf


def _by_cause(rows: Sequence[accuracy.ErrorByCause]) -> _Cut:
    keep = {r.op for r in accuracy.selected([row.any for row in rows], TABLE_ROWS)}
    return _Cut([row for row in rows if row.op in keep], len(rows))


def _operations(comparison: Comparison) -> dict[str, Any]:
    red = any(r.verdict in ("fail", "not proved") for r in comparison.operations)
    rows = accuracy.selected(comparison.operations, TABLE_ROWS if red else PASSED_ROWS)
    return {
        "comparison": comparison,
        "rows": _Cut(rows, len(comparison.operations)),
        "failed": sum(r.verdict == "fail" for r in comparison.operations),
        "unproved": sum(r.verdict == "not proved" for r in comparison.operations),
        "ways": comparison.ways.words() if comparison.kind == "bound" else "",
        "judged": any(r.higher is not None for r in comparison.operations),
        "special": [r for r in rows if _special(r)],
    }


def _special(row: OperationRow) -> bool:
    a, b = row.reference_counts, row.other_counts
    return any((a.saturated, a.nan, a.inf, a.subnormal, b.saturated, b.nan, b.inf, b.subnormal))


def _all_flips(result: CosimResult) -> list[dict[str, Any]]:
    """Return one entry per set of flips; engines that flip the same samples to the same classes share it."""
    groups: dict[Any, list[TaskMetric]] = {}
    for task in result.tasks:
        if task.flips:
            groups.setdefault((task.flips, task.must_agree, task.lost, task.lost_low, task.lost_high), []).append(task)
    return [
        _flips(result, tasks[0]) | {"engines": [t.engine for t in tasks], "short": _short(result, tasks)}
        for tasks in groups.values()
    ]


def _short(result: CosimResult, tasks: Sequence[TaskMetric]) -> str:
    """Return a short name for these engines together."""
    if len(tasks) == 1:
        return engine_title(tasks[0].engine)
    return "device" if any(_on_device(result.engine(t.engine)) for t in tasks) else "these"


def _on_device(engine: EngineRun | None) -> bool:
    return engine is not None and ("host_macs" in engine.counters or "device" in engine.placement.values())


def _flips(result: CosimResult, task: TaskMetric) -> dict[str, Any]:
    rows = result.arrays.get(f"inputs/flipped/{task.engine}")
    shown = task.flips[:FLIPS_SHOWN]
    pictures: list[str | None] = [None] * len(shown)
    shape = None
    if rows is not None and len(rows) >= len(shown):
        shape = images.image_shape(rows.shape[1:], result.data.image_shape)
        if shape is not None:
            pictures = [images.row_image(rows[i], shape) for i in range(len(shown))]
    return {"task": task, "flips": list(zip(shown, pictures, strict=True)), "more": len(task.flips) - len(shown), "shape": shape}


def _performance(result: CosimResult) -> dict[str, Any]:
    costs = performance.operation_costs(result)
    clock = performance.clocked(result)
    device = result.identity.device
    costly = _costly([c for c in costs if c.cycles])
    made: dict[str, Any] = {
        "clock": clock,
        "costs": _Cut(_costly(costs, TABLE_ROWS), len(costs)),
        "in_pictures": _Cut(costly, sum(1 for c in costs if c.cycles)),
        "numbers": {c.op: i + 1 for i, c in enumerate(costs)},
        "total": sum(c.cycles or 0 for c in costs),
        "traffic": performance.traffic(result),
        "timeline": None,
        "cycles": None,
        "utilisation": None,
        "roofline": None,
        "ports": None,
        "instructions": [],
        "seconds": clock.cycles / (device.clock_mhz * 1e6) if clock and clock.cycles and device else None,
    }
    if (found := performance.commits_of(result)) and (spans := spans_of(found[1])):
        made["timeline"] = Markup(timeline(spans))
    if costly:
        made["cycles"] = _cycles(costly)
    if known := [c for c in costly if c.useful is not None and c.padding is not None]:
        made["utilisation"] = _utilisation(known)
    # A device without multipliers (macs_per_cycle = 0) has no roofline.
    if device and device.limits.get("macs_per_cycle", 0) > 0 and any(c.least_bytes for c in costly):
        made["roofline"] = _roofline(result, costs, costly)
    if ports := performance.port_bytes(result):
        made["ports"] = Markup(port_balance(ports))
        made["port_spread"] = max(ports) * len(ports) / sum(ports) if sum(ports) else None
    for i, engine in enumerate(result.engines):
        if counts := performance.instruction_counts(engine):
            most = sorted(counts, key=lambda op: counts[op], reverse=True)[:PICTURE_ROWS]
            order = [op for op in counts if op in set(most)]
            picture = bars(
                order, [counts[op] for op in order], "instructions retired", f"instructions-{i}", "Instructions by operation."
            )
            rows = [(op, counts[op], counts[op] / (sum(counts.values()) or 1.0)) for op in order]
            profile = performance.code_profile(engine)
            made["instructions"].append((engine, Markup(picture), _Cut(rows, len(counts)), profile))
    return made


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


def _bits(comparison: Comparison) -> dict[str, Any]:
    wrong = [row.seq for row in comparison.commits if not row.equal]
    return {
        "comparison": comparison,
        "rows": _Cut(_around(comparison.commits, wrong), len(comparison.commits)),
        "wrong": len(wrong),
    }


def _first_commits(result: CosimResult) -> dict[str, int]:
    """Return operation -> its first commit in the first table of commits."""
    first = next((c for c in result.comparisons if c.kind == "bits"), None)
    found: dict[str, int] = {}
    for row in _bits(first)["rows"].rows if first is not None else ():
        found.setdefault(row.ops[-1] if row.ops else row.instruction, row.seq)
    return found


def _register_names(result: CosimResult) -> tuple[str, ...]:
    """Return the names of the registers that start the divergent instruction, in the order of the writes; empty if unknown."""
    found = result.divergence
    if found is None or [v for _, v in found.registers] != list(found.registers_named.values()):
        return ()
    return tuple(found.registers_named)


def _around(rows: Sequence[CommitRow], wrong: Sequence[int]) -> Sequence[CommitRow]:
    """Return the first rows, and the rows around the first difference if it is far down."""
    if len(rows) <= TABLE_ROWS:
        return rows
    first = next((i for i, row in enumerate(rows) if row.seq in set(wrong[:1])), 0)
    start = max(0, first - TABLE_ROWS // 4)
    if start < TABLE_ROWS // 2:
        return rows[:TABLE_ROWS]
    return [*rows[:10], *rows[start : start + TABLE_ROWS - 10]]


def _host(result: CosimResult) -> list[dict[str, Any]]:
    """Return one entry per way to split the model between device and host; engines with the same split share it."""
    groups: dict[tuple[tuple[str, str], ...], list[EngineRun]] = {}
    for engine in result.engines:
        if engine.status == "ran" and _on_device(engine):
            groups.setdefault(tuple(engine.placement.items()), []).append(engine)
    made: list[dict[str, Any]] = []
    for placement, engines in groups.items():
        host = [op for op, place in placement if place == "host"]
        counters = engines[0].counters
        macs, host_macs = counters.get("macs"), counters.get("host_macs")
        share = host_macs / (macs + host_macs) if macs is not None and host_macs is not None and macs + host_macs else None
        rows = {row.op: row for c in result.comparisons for row in c.operations}
        why: Any = engines[0].meta.get("host_reasons")
        reasons = {str(op): str(text) for op, text in why.items()} if isinstance(why, dict) else {}
        made.append(
            {
                "engines": [e.name for e in engines],
                "ops": _cut([(op, rows.get(op), reasons.get(op, "")) for op in host], 40),
                "all": len(placement),
                "share": share,
                "macs": macs,
                "host_macs": host_macs,
            }
        )
    return made
