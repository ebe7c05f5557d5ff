"""The report of an instruction stream: the same stream with several memories and ways of issue, side by side.

Everything comes from stored figures; nothing runs.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path

from markupsafe import Markup

from fleet.compare.diverged import CommitRow
from fleet.core.files import write_together
from fleet.core.json_text import json_text
from fleet.report.frame.index import published
from fleet.report.frame.place import About, frame_of
from fleet.report.frame.render import render
from fleet.report.pictures.performance_pictures import stacked_bars
from fleet.report.pictures.timeline import spans_of, timeline


@dataclass(frozen=True)
class StreamRun:
    """One simulation of the stream beside the functional model.

    Attributes:
        issue: "regs" or "aux". memory: the memory model. verdict: "pass" or "fail". reasons: why it failed.
        rows: the commits with the hardware's clock.
        cycles: from the first start to the last commit.
        bits: number compared, over all commits and memory images.
        seconds: wall time of the simulation.
        counters: as the engine names them.
    """

    issue: str
    memory: str
    verdict: str
    reasons: tuple[str, ...]
    rows: tuple[CommitRow, ...]
    cycles: int
    bits: int
    seconds: float
    counters: Mapping[str, float] = field(default_factory=dict[str, float])

    @property
    def name(self) -> str:
        """Way of issue and memory: "aux, timed:0"."""
        return f"{self.issue}, {self.memory}"


@dataclass(frozen=True)
class StreamReport:
    """Data of the page.

    Attributes:
        title, text: for people. command: runs it again.
        device: its name. clock_mhz: of its cycles.
        runs: at least one.
        classes: operation -> class of work ("matrix products"), for all operations, in the order of the table.
        bounds: operation -> least cycles that the device's memories and arrays allow.
        notes: further lines, figure and meaning.
    """

    title: str
    text: str
    command: str
    device: str
    clock_mhz: float
    runs: tuple[StreamRun, ...]
    classes: Mapping[str, str]
    bounds: Mapping[str, float]
    notes: tuple[str, ...] = ()

    @property
    def verdict(self) -> str:
        """ "pass" if there are runs and all of them pass, else "fail"."""
        return "pass" if self.runs and all(run.verdict == "pass" for run in self.runs) else "fail"


@dataclass(frozen=True)
class ClassRow:
    """One class of work in all runs. bound: least cycles. cycles: by run."""

    name: str
    operations: tuple[str, ...]
    bound: float
    cycles: tuple[int, ...]


def class_rows(report: StreamReport) -> tuple[ClassRow, ...]:
    """Return the classes in the order of `classes`. Cycles count from start to commit, without waiting for earlier instructions."""
    made: list[ClassRow] = []
    for name in dict.fromkeys(report.classes.values()):
        ops = tuple(op for op, kind in report.classes.items() if kind == name)
        bound = sum(report.bounds.get(op, 0.0) for op in ops)
        made.append(ClassRow(name, ops, bound, tuple(_cycles_of(run.rows, ops) for run in report.runs)))
    return tuple(made)


def _cycles_of(rows: Sequence[CommitRow], ops: Sequence[str]) -> int:
    mine = [row.cycles for row in rows if row.ops and row.ops[-1] in ops]
    return sum(sum(cycles.values()) - cycles.get("dependency", 0) for cycles in mine)


def write_stream_report(report: StreamReport, folder: Path | str) -> Path:
    """Write index.html and report.json into `folder` (created if missing); return the page's path.

    Raises FleetError if the folder cannot be written.
    """

    page = Path(folder) / "index.html"
    table = {**asdict(report), "verdict": report.verdict, "class_cycles": [asdict(row) for row in class_rows(report)]}
    cycles = [run.cycles for run in report.runs if run.cycles]
    about = About("instruction streams", report.title, report.verdict, f"{min(cycles):,} cycles" if cycles else "")
    text = render("streams.html.j2", _context(report), frame_of(page, about))
    write_together({page: text, page.with_name("report.json"): json_text(table)})
    published(page)
    return page


@dataclass(frozen=True)
class _RunPictures:
    """Pictures of one run; None if it has no cycles."""

    run: StreamRun
    timeline: Markup | None
    cycles: Markup | None


@dataclass(frozen=True)
class _StreamPage:
    """The values of the page. bound: least cycles of the whole stream."""

    report: StreamReport
    verdict: str
    rows: tuple[ClassRow, ...]
    bound: float
    pictures: Sequence[_RunPictures]


def _context(report: StreamReport) -> _StreamPage:
    pictures: list[_RunPictures] = []
    for i, run in enumerate(report.runs):
        classes = list(dict.fromkeys(name for row in run.rows for name in row.cycles))
        names = [f"{row.seq}. {row.ops[-1] if row.ops else row.instruction}" for row in run.rows]
        parts = {name.replace("_", " "): [float(row.cycles.get(name, 0)) for row in run.rows] for name in classes}
        spans = spans_of(run.rows)
        over_time = Markup(timeline(spans, f"timeline-{i}")) if spans else None
        cycles = Markup(stacked_bars(names, parts, "cycles", f"cycles-{i}", f"Cycles by class, {run.name}.")) if parts else None
        pictures.append(_RunPictures(run, over_time, cycles))
    return _StreamPage(report, report.verdict, class_rows(report), sum(report.bounds.values()), pictures)
