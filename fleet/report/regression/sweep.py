"""The report of a sweep: sweep.json, points.csv, the page, and the page of each run in RTL.

write_sweep(outcome, Path("reports/sweep"))
"""

from __future__ import annotations

import csv
import io
import math
import os
import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from markupsafe import Markup

from fleet.core.codec import encode_record
from fleet.core.files import write_together
from fleet.core.json_text import json_text
from fleet.report.frame.index import published
from fleet.report.frame.place import About, frame_of
from fleet.report.frame.render import render
from fleet.report.pictures.sweep_pictures import SweepSeries, front_picture
from fleet.report.run.generation import write_generation
from fleet.report.run.page import write_report
from fleet.sweep.records import HardwareRecord, ModelRecord, Quality, SweepOutcome, SweptPoint

FORM = 1
"""Version of sweep.json."""
_MOST = 400
"""Rows of the table of all points; the files have all."""


@dataclass(frozen=True)
class _Row:
    """A point as the page shows it. number: its place in the order of the axes, from 1."""

    number: int
    swept: SweptPoint
    model: ModelRecord
    quality: tuple[Quality, ...]
    again: str


@dataclass(frozen=True)
class _SweepPage:
    """The values of the page. shown: rows of the table of all points. refused: label and reason."""

    outcome: SweepOutcome
    title: str
    axes: tuple[str, ...]
    qualities: tuple[str, ...]
    cells: tuple[str, ...]
    front: tuple[_Row, ...]
    built: tuple[_Row, ...]
    shown: tuple[_Row, ...]
    refused: tuple[tuple[str, str], ...]
    pictures: tuple[tuple[Markup, str], ...]
    clock: float


def write_sweep(outcome: SweepOutcome, folder: Path) -> Path:
    """Write all files together and return the page's path. Raises FleetError if the folder cannot be written."""
    outcome = replace(outcome, points=tuple(_with_page(p, folder) for p in outcome.points))
    page = folder / "index.html"
    built = sum(p.hardware is not None for p in outcome.points)
    front = sum(p.front for p in outcome.points)
    figure = f"{len(outcome.points):,} points, {front} on the front, {built} in RTL"
    about = About("sweep", f"{outcome.model} on {outcome.device}", outcome.verdict, figure, outcome.date)
    text = render("sweep.html.j2", _shown(outcome, figure), frame_of(page, about))
    table = {"form": FORM, **encode_record(outcome)}
    write_together({page: text, page.with_name("sweep.json"): json_text(table), page.with_name("points.csv"): points_csv(outcome)})
    published(page)
    return page


def _with_page(p: SweptPoint, folder: Path) -> SweptPoint:
    """Write the page of a run in RTL; return the point with its address."""
    if p.hardware is None or not p.hardware.page or (folder / p.hardware.page).is_file():
        return p
    stored = Path(p.hardware.page)
    own = folder / "runs" / (re.sub(r"[^A-Za-z0-9_=-]+", "-", p.point.label).strip("-")[:100] or p.key)
    if (stored / "generation.json").is_file():
        page = write_generation(stored, own)
    elif (stored / "result.json").is_file():
        page = write_report(stored, own).html
    else:
        return replace(p, hardware=replace(p.hardware, page=""))
    return replace(p, hardware=replace(p.hardware, page=os.path.relpath(page, folder)))


def _shown(outcome: SweepOutcome, figure: str) -> _SweepPage:
    rows = [
        _Row(number, p, p.model, p.model.quality.figures if p.model.quality else (), _again(p))
        for number, p in enumerate(outcome.points, 1)
        if p.model is not None and not p.model.refused
    ]
    refused = [(p.point.label, p.refused) for p in outcome.points if p.refused]
    by_time = sorted(rows, key=lambda r: r.model.microseconds)
    first = rows[0] if rows else None
    return _SweepPage(
        outcome, figure, tuple(a.name for a in outcome.axes), tuple(q.name for q in first.quality) if first else (),
        tuple(first.model.cells) if first else (), tuple(r for r in by_time if r.swept.front),
        tuple(r for r in by_time if r.swept.hardware is not None), tuple(rows[:_MOST]), tuple(refused), tuple(_pictures(rows)),
        first.model.clock_mhz if first else 0.0,
    )  # fmt: skip


def _again(p: SweptPoint) -> str:
    """Return the device and the options of a point, as other commands take them."""
    options = "".join(f" --{name} {value}" for name, value in p.point.options.items())
    return f"--device {p.point.device}{options} --memory {p.point.memory}"


def _pictures(rows: Sequence[_Row]) -> list[tuple[Markup, str]]:
    """Return pictures with captions."""
    usable = [r for r in rows if r.quality and math.isfinite(r.quality[0].value)]
    if len(usable) < 2:
        return []
    memories = list(dict.fromkeys(r.swept.point.memory for r in usable))
    quality = usable[0].quality[0]
    unit = f", {quality.unit}" if quality.unit else ""
    drawn: list[tuple[Markup, str]] = []

    def add(name: str, y_text: str, values: Sequence[float], caption: str) -> None:
        series = [
            SweepSeries(
                f"memory {memory}",
                tuple(
                    (r.model.microseconds, y, r.swept.front)
                    for r, y in zip(usable, values, strict=True)
                    if r.swept.point.memory == memory
                ),
            )
            for memory in memories
        ]
        picture = front_picture(series, ("time, µs at the device file's clock", y_text), name, caption)
        drawn.append((Markup(picture), caption))

    better = "more" if quality.higher else "less"
    add(
        "quality", f"{quality.name}{unit}", [r.quality[0].value for r in usable],
        f"{quality.name} against time; {better} is better. Filled: on the front of its memory, which counts all objectives.",
    )  # fmt: skip
    if all(r.model.energy for r in usable):
        add(
            "energy", "energy, µJ", [r.model.microjoules for r in usable], "Energy of what is counted against time; less is better."
        )
    return drawn


def points_csv(outcome: SweepOutcome) -> str:
    """Return the points as CSV with a header, one a row in the order of the axes; figures that a point lacks are empty."""
    models = [p.model for p in outcome.points if p.model is not None and not p.model.refused]
    qualities = [q.name for q in models[0].quality.figures] if models and models[0].quality else []
    cells = list(models[0].cells) if models else []
    counters = sorted({name for m in models for name in m.counters if name != "cycles_estimate"})
    axes = dict.fromkeys([*(a.name for a in outcome.axes), "memory"])
    stream = io.StringIO()
    out = csv.writer(stream, lineterminator="\n")
    out.writerow(
        [
            *axes, "device", "front", "refused", "cycles", "us", "host_share", *qualities, "uJ",
            *cells, *counters, "rtl_cycles", "rtl_instruction_cycles", "estimate_over_rtl", "rtl_verdict",
        ]
    )  # fmt: skip
    for p in outcome.points:
        values = {**p.point.values, "memory": p.point.memory}
        head = [*(values[name] for name in axes), p.point.device, int(p.front)]
        m = p.model
        if m is None or m.refused:
            out.writerow([*head, m.refused if m else p.error])
            continue
        found = {q.name: q.value for q in m.quality.figures} if m.quality else {}
        out.writerow(
            [
                *head, "", f"{m.cycles:.0f}", f"{m.microseconds:.4f}", f"{m.host_share:.4f}",
                *(f"{found[name]:.6g}" if name in found else "" for name in qualities), f"{m.microjoules:.4f}",
                *(f"{m.cells.get(kind, 0):.0f}" for kind in cells), *(f"{m.counters.get(name, 0):.0f}" for name in counters),
                *_csv_hardware(p.hardware),
            ]
        )  # fmt: skip
    return stream.getvalue()


def _csv_hardware(found: HardwareRecord | None) -> list[str]:
    if found is None:
        return ["", "", "", ""]
    return [f"{found.cycles}", f"{found.instruction_cycles}", f"{1 + found.off:.5f}", found.verdict]
