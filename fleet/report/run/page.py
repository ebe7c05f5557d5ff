"""The report of one run: a page, and its figures for machines. Everything comes from a stored result; nothing runs."""

from __future__ import annotations

import contextlib
import os
from dataclasses import dataclass
from pathlib import Path

from fleet.core.codec import Json
from fleet.core.files import write_together
from fleet.core.json_text import json_text
from fleet.cosim.result import CosimResult, load_result
from fleet.report.frame.index import published
from fleet.report.frame.place import INDEX, About, frame_of
from fleet.report.frame.render import render
from fleet.report.run import performance
from fleet.report.run.changes import changes, compared_with
from fleet.report.run.context import context
from fleet.report.run.gaps import gaps
from fleet.report.run.headline import headline
from fleet.report.run.junit import junit
from fleet.report.run.proved import proved
from fleet.report.run.summary import summary

REPORT_SCHEMA = 1
"""Version of the form of report.json."""
PREVIOUS = "previous.html"
"""File beside a page with the page of the run that it replaced."""


@dataclass(frozen=True)
class ReportFiles:
    """The written files: the page, the same as JSON, JUnit XML, and a Markdown summary."""

    html: Path
    json: Path
    junit: Path
    summary: Path


def write_report(
    result: CosimResult | Path | str, out_dir: Path | str, previous: CosimResult | Path | str | None = None
) -> ReportFiles:
    """Write index.html, report.json, junit.xml and summary.md into `out_dir`.

    The page is self-contained and makes no request. An old report is replaced only when the new one is completely on the disk.

    Args:
        result: a result, or the folder (or result.json) that `fleet cosim` wrote.
        out_dir: is created if it is missing.
        previous: the run to compare with, likewise.

    Raises:
        ModelError: the stored result is damaged or missing.
        FleetError: the folder cannot be written.
    """
    files, texts = _pages(load_result(result), Path(out_dir), previous)
    write_together(texts)
    published(files.html)
    return files


def store_report(result: CosimResult, out_dir: Path | str, previous: CosimResult | None = None) -> tuple[Path, ReportFiles]:
    """Write the result (`CosimResult.save`) and its report together: both replace the old ones, or nothing does.

    If the run is compared with an earlier one, the replaced page is kept as `PREVIOUS`. Two runs that store into one folder take
    turns. Returns result.json's path and the report's files. Raises FleetError if the folder cannot be written.
    """
    replaced = Path(out_dir) / INDEX
    kept: dict[Path, str] = {}
    if previous is not None and replaced.is_file():
        with contextlib.suppress(OSError, ValueError):  # a page that is not fleet's, or one that is being replaced
            kept[replaced.with_name(PREVIOUS)] = replaced.read_text(encoding="utf-8")
    files, texts = _pages(result, Path(out_dir), previous, PREVIOUS if kept else None)
    stored = result.save(Path(out_dir), {**kept, **texts})
    published(files.html)
    return stored, files


def _pages(
    found: CosimResult, folder: Path, previous: CosimResult | Path | str | None, page: str | None = None
) -> tuple[ReportFiles, dict[Path, str]]:
    """Return the files and their texts, without writing. page: address of the earlier run's page, if known."""
    before = None if previous is None else load_result(previous)
    if isinstance(previous, Path | str):
        there = (Path(previous) if Path(previous).is_dir() else Path(previous).parent) / INDEX
        page = os.path.relpath(there.absolute(), folder.absolute()) if there.is_file() and there.parent != folder else None
    files = ReportFiles(folder / INDEX, folder / "report.json", folder / "junit.xml", folder / "summary.md")
    return files, {
        files.json: json_text(report_json(found, before)),
        files.junit: junit(found),
        files.summary: summary(found, before),
        files.html: render("page.html.j2", context(found, before, page), frame_of(files.html, _about(found))),
    }


def _about(result: CosimResult) -> About:
    i = result.identity
    clock = performance.clocked(result)
    figure = f"{clock.cycles:,} cycles" if clock is not None and clock.cycles is not None else ""
    return About("run", i.case or i.model, result.verdict, figure, i.date)


def report_json(result: CosimResult, previous: CosimResult | None = None) -> dict[str, Json]:
    """Return the page for machines: the derived figures, and under "result" the stored result (`CosimResult.from_json`)."""
    return {
        "schema": REPORT_SCHEMA,
        "verdict": result.verdict,
        "reasons": list(result.reasons),
        "proved": list(proved(result)),
        "banner": result.data.banner,
        "engines": [row.to_json() for row in headline(result)],
        "not_compared": [gap.to_json() for gap in gaps(result)],
        "compared_with": compared_with(previous) if previous else None,
        "changes": [c.to_json() for c in changes(previous, result)] if previous else [],
        "operations": [
            {
                "op": c.op,
                "ops": list(c.ops),
                "instructions": list(c.instructions),
                "commits": c.commits,
                "cycles": c.cycles,
                "classes": dict(c.classes),
                "macs": c.macs,
                "macs_issued": c.macs_issued,
                "useful": c.useful,
                "padding": c.padding,
                "least_bytes": dict(c.least_bytes),
            }
            for c in performance.operation_costs(result)
        ],
        "traffic": [{"memory": t.memory, "moved": t.moved, "least": t.least} for t in performance.traffic(result)],
        "result": result.to_json(),
    }
