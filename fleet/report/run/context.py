"""The values of the page's templates: figures, tables cut to a readable length, and the pictures made of them."""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass

from fleet.compare.diverged import CommitRow
from fleet.compare.measured import OperationRow
from fleet.compare.verdict import Comparison, Flip, TaskMetric
from fleet.compare.ways import NORM
from fleet.cosim.result import CosimResult
from fleet.cosim.what_ran import EngineRun
from fleet.report.frame.cut import CutRows, cut_rows
from fleet.report.frame.text import count, engine_title, number, percent, times
from fleet.report.pictures import images
from fleet.report.run import performance
from fleet.report.run.accuracy_section import TABLE_ROWS, AccuracySection, accuracy_section
from fleet.report.run.changes import DependencyChange, changes, compared_with
from fleet.report.run.cycles_section import CyclesSection, cycles_section
from fleet.report.run.diff import Figure, diff
from fleet.report.run.gaps import Gap, GapGroup, gaps, grouped
from fleet.report.run.headline import HeadRow, headline
from fleet.report.run.proved import proved
from fleet.report.run.scores import Scores, scores
from fleet.report.run.source_lines import SourceListing, anchors, case_file, model_file, sources

FLIPS_SHOWN = 24
MOVED_ROWS = 20
HOST_ROWS = 40


@dataclass(frozen=True)
class FlipGroup:
    """Samples whose class changes, of engines that flip the same samples to the same classes.

    Attributes:
        engines: their names. short: one short name for them. task: the first engine's.
        flips: (the sample, its picture as a data URL or None) of the shown ones. more: number of the others.
        shape: height and width of the pictures; None without pictures.
    """

    engines: tuple[str, ...]
    short: str
    task: TaskMetric
    flips: tuple[tuple[Flip, str | None], ...]
    more: int
    shape: tuple[int, ...] | None


@dataclass(frozen=True)
class CommitTable:
    """The commits of a bitwise comparison: the shown ones, and the number of those that differ."""

    comparison: Comparison
    rows: CutRows[CommitRow]
    wrong: int


@dataclass(frozen=True)
class HostSplit:
    """Share of the host, for engines that split the model in the same way.

    Attributes:
        ops: (operation, its row of a comparison or None, why it is not on the device). all: number of operations of the model.
        macs, host_macs: on the device and on the host; None if not counted. share: the host's part of both.
    """

    engines: tuple[str, ...]
    ops: CutRows[tuple[str, OperationRow | None, str]]
    all: int
    share: float | None
    macs: float | None
    host_macs: float | None


@dataclass(frozen=True)
class RunPage:
    """The values of the page, by the names that its templates use.

    Attributes:
        rows: of engines side by side.
        previous: the run that this one is compared with, previous_page: its page's address; None without one.
        changed, unchanged: dependencies. moved: figures as (what, then, now, ratio).
        agreeing: tasks without flips.
        numbers: operation -> its number in table and pictures. first_commit: operation -> sequence number.
        lines: place of an operation -> id of its line. source: operation -> place, "" if unknown.
        sampled: samples whose scores are shown. names: registers that start the divergent instruction.
        classes: of cycles, in the order of the hardware's counters.
    """

    result: CosimResult
    title: str
    rows: tuple[HeadRow, ...]
    previous: str | None
    previous_verdict: str | None
    previous_page: str | None
    changed: tuple[DependencyChange, ...]
    unchanged: Sequence[str]
    moved: CutRows[tuple[str, str, str, str]] | None
    proved: tuple[str, ...]
    gaps: tuple[Gap, ...]
    gap_groups: tuple[GapGroup, ...]
    norm: str
    accuracy: AccuracySection
    flips: tuple[FlipGroup, ...]
    agreeing: tuple[TaskMetric, ...]
    performance: CyclesSection
    bits: tuple[CommitTable, ...]
    numbers: Mapping[str, int]
    first_commit: Mapping[str, int]
    lines: Mapping[str, str]
    sources: tuple[SourceListing, ...]
    model_file: str
    case_file: str | None
    scores: tuple[Scores, ...]
    sampled: Collection[int]
    source: Mapping[str, str]
    names: tuple[str, ...]
    host: tuple[HostSplit, ...]
    classes: tuple[str, ...]


def context(result: CosimResult, previous: CosimResult | None, previous_page: str | None = None) -> RunPage:
    """Return the values of the whole page. previous: the run that this one is compared with, or None."""
    differences = changes(previous, result) if previous else ()
    shown, found = cycles_section(result), scores(result, FLIPS_SHOWN)
    numbers = {op: shown.numbers[c.op] for c in shown.costs.rows for op in c.ops} | {
        c.op: shown.numbers[c.op] for c in shown.costs.rows
    }
    return RunPage(
        result=result,
        title=result.identity.case or result.identity.model,
        rows=headline(result),
        previous=compared_with(previous) if previous else None,
        previous_verdict=previous.verdict if previous else None,
        previous_page=previous_page,
        changed=tuple(c for c in differences if c.changed),
        unchanged=_unchanged(differences),
        moved=_moved(previous, result) if previous else None,
        proved=proved(result),
        gaps=gaps(result),
        gap_groups=grouped(result),
        norm=NORM,
        accuracy=accuracy_section(result),
        flips=tuple(_all_flips(result)),
        agreeing=tuple(task for task in result.tasks if not task.flips),
        performance=shown,
        bits=tuple(_bits(c) for c in result.comparisons if c.kind == "bits"),
        numbers=numbers,
        first_commit=_first_commits(result),
        lines=anchors(result),
        sources=sources(result),
        model_file=model_file(result),
        case_file=case_file(result),
        scores=found,
        sampled={s.index for s in found},
        source=defaultdict(str, {row.op: row.at for c in result.comparisons for row in c.operations}),
        names=_register_names(result),
        host=tuple(_host(result)),
        classes=performance.cycle_classes(performance.operation_costs(result)),
    )


def _unchanged(differences: Sequence[DependencyChange]) -> list[str]:
    """Return what did not change; device parameters and tools as one entry each if none of them changed."""
    same = [c.what for c in differences if not c.changed and c.after is not None]
    changed = [c.what for c in differences if c.changed]
    for start, together in (("parameter ", "device parameters"), ("tool ", "tools")):
        own = [what for what in same if what.startswith(start)]
        if own and not any(what.startswith(start) for what in changed):
            same = [together if what == own[0] else what for what in same if what == own[0] or what not in own]
    return same


def _moved(before: CosimResult, after: CosimResult) -> CutRows[tuple[str, str, str, str]]:
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
    return CutRows(rows[:MOVED_ROWS], sum(f.changed for f in (*found.accuracy, *found.cycles, *found.errors)))


def _move(figure: Figure) -> float:
    """Return how far a figure moved, in either direction; infinite without a ratio."""
    return abs(math.log(figure.ratio)) if figure.ratio is not None and figure.ratio > 0 else math.inf


def _all_flips(result: CosimResult) -> Iterator[FlipGroup]:
    """Yield one group per set of flips; engines that flip the same samples to the same classes share it."""
    groups: dict[object, list[TaskMetric]] = {}
    for task in result.tasks:
        if task.flips:
            groups.setdefault((task.flips, task.must_agree, task.lost, task.lost_low, task.lost_high), []).append(task)
    for tasks in groups.values():
        shown = tasks[0].flips[:FLIPS_SHOWN]
        pictures, shape = _pictures(result, tasks[0].engine, len(shown))
        flips, more = tuple(zip(shown, pictures, strict=True)), len(tasks[0].flips) - len(shown)
        yield FlipGroup(tuple(t.engine for t in tasks), _short(result, tasks), tasks[0], flips, more, shape)


def _short(result: CosimResult, tasks: Sequence[TaskMetric]) -> str:
    """Return a short name for these engines together."""
    if len(tasks) == 1:
        return engine_title(tasks[0].engine)
    return "device" if any(_on_device(result.engine(t.engine)) for t in tasks) else "these"


def _on_device(engine: EngineRun | None) -> bool:
    return engine is not None and ("host_macs" in engine.counters or "device" in engine.placement.values())


def _pictures(result: CosimResult, engine: str, number: int) -> tuple[Sequence[str | None], tuple[int, ...] | None]:
    """Return the inputs of the first flipped samples as pictures, and their height and width; None without pictures."""
    rows = result.arrays.get(f"inputs/flipped/{engine}")
    shape = images.image_shape(rows.shape[1:], result.data.image_shape) if rows is not None and len(rows) >= number else None
    if rows is None or shape is None:
        return [None] * number, None
    return [images.row_image(rows[i], shape) for i in range(number)], shape


def _bits(comparison: Comparison) -> CommitTable:
    wrong = [row.seq for row in comparison.commits if not row.equal]
    return CommitTable(comparison, CutRows(_around(comparison.commits, wrong), len(comparison.commits)), len(wrong))


def _first_commits(result: CosimResult) -> dict[str, int]:
    """Return operation -> its first commit in the first table of commits."""
    first = next((c for c in result.comparisons if c.kind == "bits"), None)
    found: dict[str, int] = {}
    for row in _bits(first).rows.rows if first is not None else ():
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


def _host(result: CosimResult) -> Iterator[HostSplit]:
    """Yield one entry per way to split the model between device (or RISC-V code) and host; engines with the same split share it."""
    groups: dict[tuple[tuple[str, str], ...], list[EngineRun]] = {}
    for engine in result.engines:
        if engine.status == "ran" and (_on_device(engine) or "host" in engine.placement.values()):
            groups.setdefault(tuple(engine.placement.items()), []).append(engine)
    for placement, engines in groups.items():
        host = [op for op, place in placement if place == "host"]
        counters = engines[0].counters
        macs, host_macs = counters.get("macs"), counters.get("host_macs")
        share = host_macs / (macs + host_macs) if macs is not None and host_macs is not None and macs + host_macs else None
        rows = {row.op: row for c in result.comparisons for row in c.operations}
        why = engines[0].meta.get("host_reasons")
        reasons = {str(op): str(text) for op, text in why.items()} if isinstance(why, dict) else {}
        ops = [(op, rows.get(op), reasons.get(op, "")) for op in host]
        yield HostSplit(tuple(e.name for e in engines), cut_rows(ops, HOST_ROWS), len(placement), share, macs, host_macs)
