"""Sentences of the verdict's banner: for each comparison, what it proved."""

from __future__ import annotations

import math
from collections.abc import Iterator

from fleet.compare.verdict import Comparison, TaskMetric
from fleet.cosim.result import ROUNDED, CosimResult
from fleet.report.frame.text import count, interval, number, percent
from fleet.report.run.accuracy import causes
from fleet.report.run.headline import GOLDEN, worst_operation

_NAMES = {ROUNDED: "the golden with rounded weights"}


def proved(result: CosimResult) -> tuple[str, ...]:
    """Return sentences about the comparisons that pass, hardware first, then the cost of the device; empty if nothing passes."""
    held = [c for c in result.comparisons if c.verdict == "pass"]
    order = ("bits", "bound", "info")
    device_side = {side for c in held if c.kind == "bits" for side in (c.reference, c.other)} | {ROUNDED}
    held.sort(key=lambda c: (order.index(c.kind), c.reference not in device_side, c.other == GOLDEN))
    found: list[str] = []
    for comparison in held:
        if comparison.kind == "bits":
            found.append(_bits(comparison))
        elif comparison.kind == "bound":
            found.append(_bound(result, comparison))
    return (*found, *_cost(result))


def _bits(c: Comparison) -> str:
    instructions = f"{count(len(c.commits))} {'commit' if len(c.commits) == 1 else 'commits'}, " if c.commits else ""
    return (
        f"{_name(c.other)} = {_name(c.reference)} in every bit{' of a sample' * c.sampled}: {instructions}{count(c.bytes)} bytes."
    )


def _bound(result: CosimResult, c: Comparison) -> str:
    worst = worst_operation(c)
    sides = [s for s in (c.other, c.reference) if s != GOLDEN]
    task = result.task(sides[0]) if len(sides) == 1 else None
    alike = task is not None and task.must_agree and not task.flips
    if not any(row.cumulative.mismatches for row in c.operations):
        text = f"{_name(c.other)} = {_name(c.reference)} in all {count(c.elements)} elements"
    else:
        words = "within rounding" if c.ways.higher else "within the derived bound"
        text = f"{_name(c.other)} {words} of {_name(c.reference)}"
        if task is not None and alike:
            text = f"{_name(c.other)} = {_name(c.reference)} in all {count(task.samples)} classes and {words}"
        if worst is not None and worst.held is not None:
            whole = "the bound" if c.ways.higher else "it"
            text += f" (worst {number(worst.held.worst_ratio, 2)} of {whole}, at {worst.op})"
    waived = sum(row.waiver is not None for row in c.operations)
    ways = c.ways
    notes = [ways.words()] if ways.own + ways.higher else []
    notes += [f"{waived} operations by waiver"] if waived else []
    text += f" ({'; '.join(notes)})" if notes else ""
    return text + "."


def _cost(result: CosimResult) -> Iterator[str]:
    """State the device's cost against the golden: in accuracy if the data are real, else in decibels."""
    found, _ = causes(result)
    if found.arithmetic is not None and found.arithmetic.verdict != "pass":
        return  # the figures of a device that computes wrongly mean nothing
    device = found.arithmetic.other if found.arithmetic else None
    task, golden = result.task(device) if device else None, result.task(GOLDEN)
    real = result.data.kind == "real"
    if real and task is not None and golden is not None and task.lost is not None and task.value is not None:
        yield f"The device costs {_points(task)}: {percent(task.value)} instead of {percent(golden.value)}{_rounding(result)}."
    elif found.total is not None and found.total.verdict == "pass":
        worst = min(
            (r for r in found.total.operations if r.has_ulps and not math.isnan(r.cumulative.sqnr_db)),
            key=lambda r: r.cumulative.sqnr_db,
            default=None,
        )
        if worst is not None:
            yield f"The device keeps {number(worst.cumulative.sqnr_db)} dB of signal over error (lowest, at {worst.op})."


def _rounding(result: CosimResult) -> str:
    task = result.task(ROUNDED)
    return f" (rounding the weights alone: {_points(task, short=True)})" if task is not None and task.lost is not None else ""


def _points(task: TaskMetric, *, short: bool = False) -> str:
    value = f"{100 * (task.lost or 0.0):.2f}"
    return value if short else f"{value} points of {task.metric} {interval(task.lost_low, task.lost_high)}"


def _name(engine: str) -> str:
    return _NAMES.get(engine, engine)
