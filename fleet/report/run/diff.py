"""`fleet diff RUN_A RUN_B`: what changed between two stored results, causes first, then effects."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from fleet.core.codec import Json, encode, encode_record
from fleet.core.json_text import json_text
from fleet.cosim.result import CosimResult, load_result
from fleet.report.frame import text as _text
from fleet.report.frame.text import engine_title
from fleet.report.run import performance
from fleet.report.run.changes import PROVENANCE, DependencyChange, changes, compared_with
from fleet.report.run.headline import headline

_MOST_ROWS = 40


@dataclass(frozen=True)
class Figure:
    """One figure in both runs. before, after: None if that run does not have it."""

    what: str
    before: float | None
    after: float | None

    @property
    def ratio(self) -> float | None:
        """after / before; None if either is missing or before is zero (1 if both are equal)."""
        if self.before is None or self.after is None:
            return None
        if self.before == self.after:
            return 1.0
        return self.after / self.before if self.before and math.isfinite(self.before) and math.isfinite(self.after) else None

    @property
    def changed(self) -> bool:
        """True if the figures differ (NaN equals NaN)."""
        if self.before is None or self.after is None:
            return self.before is not self.after
        return not (self.before == self.after or (math.isnan(self.before) and math.isnan(self.after)))

    def to_json(self) -> dict[str, Json]:
        """Return JSON values; infinities and NaN as text."""
        return {**encode_record(self), "ratio": encode(self.ratio), "changed": self.changed}


@dataclass(frozen=True)
class RunDiff:
    """The difference of two runs.

    Attributes:
        before, after: names of the runs. verdict: (before, after).
        identity: everything that identifies a run (hashes, tools, seed, ...), changed or not.
        comparisons: verdict of each comparison.
        accuracy: task figure and agreement by engine, as fractions.
        cycles: total by engine, then by operation (engine with a clock), and instructions by engine.
        errors: by comparison and operation: largest absolute error, SQNR in dB, largest error / bound.
        commits: number of instruction commits whose digests differ between the runs; None if the runs do not have the same
            commits.
    """

    before: str
    after: str
    verdict: tuple[str, str]
    identity: tuple[DependencyChange, ...]
    comparisons: tuple[DependencyChange, ...]
    accuracy: tuple[Figure, ...]
    cycles: tuple[Figure, ...]
    errors: tuple[Figure, ...]
    commits: int | None

    @property
    def same(self) -> bool:
        """True if nothing differs: identity, verdict and all figures."""
        figures = (*self.accuracy, *self.cycles, *self.errors)
        content = [c for c in self.identity if c.what not in PROVENANCE]
        identical = not any(c.changed for c in (*content, *self.comparisons)) and not any(f.changed for f in figures)
        return identical and self.verdict[0] == self.verdict[1] and not self.commits

    @property
    def slower(self) -> str:
        """A line about cycles that grew, with the changed content or the lack of a change; empty if none grew."""
        grew = [f for f in self.cycles if f.what.endswith(" cycles") and f.before and f.after and f.after > f.before]
        if not grew:
            return ""
        most = max(grew, key=lambda f: f.ratio or 0.0)
        times = f"{most.what}: {_text.times(most.ratio)}" if most.ratio is not None else most.what
        content = next((c for c in self.identity if c.what == "content"), None)
        if content is None:
            why = "one of the runs does not say what it was made of"
        elif content.changed:
            parts = [c.what for c in self.identity if c.changed and c.what not in ("content", *PROVENANCE)]
            why = f"the content differs: {', '.join(parts) or 'nothing that has a name'}"
        else:
            why = "THE CONTENT IS EQUAL: what made it slower is in no hash"
        return f"cycles grew ({times}); {why}"

    def to_json(self) -> dict[str, Json]:
        """Return JSON values of everything, changed or not."""
        return {
            "before": self.before,
            "after": self.after,
            "same": self.same,
            "verdict": list(self.verdict),
            "identity": [c.to_json() for c in self.identity],
            "comparisons": [c.to_json() for c in self.comparisons],
            "accuracy": [f.to_json() for f in self.accuracy],
            "cycles": [f.to_json() for f in self.cycles],
            "errors": [f.to_json() for f in self.errors],
            "commits_that_differ": self.commits,
            "slower": self.slower,
        }

    def json_text(self) -> str:
        """Return `to_json` as text."""
        return json_text(self.to_json())

    def text(self, width: int = 80) -> str:
        """Return the changes as text for a terminal of `width` columns: at most a screen per part; long names lose their middle."""
        lines = [f"then  {self.before}", f"now   {self.after}", ""]
        if self.same:
            return "\n".join([*lines, "The two runs are the same in everything that was compared."]) + "\n"
        lines.append(f"verdict   {' -> '.join(dict.fromkeys(self.verdict))}")
        for title, found in (("what the runs were made of", self.identity), ("comparisons", self.comparisons)):
            lines += _part(title, [(c.what, _text.short(c.before), _text.short(c.after), "") for c in found if c.changed], width)
        lines += _part("accuracy", [_figure_row(f, _text.percent) for f in self.accuracy if f.changed], width)
        lines += _part("cycles and instructions", [_figure_row(f, _text.count) for f in self.cycles if f.changed], width)
        errors = [f for f in self.errors if f.changed]
        for name in dict.fromkeys(f.what.split(" ", 1)[0] for f in errors):
            own = [_figure_row(f, _text.number) for f in errors if f.what.split(" ", 1)[0] == name]
            lines += _part(f"errors, {name}", [(row[0].split(" ", 1)[-1], *row[1:]) for row in own], width)
        if self.slower:
            lines += ["", self.slower]
        if self.commits:
            lines += ["", f"commits with another digest: {self.commits}"]
        elif self.commits is None:
            lines += ["", "commits: not compared, the runs do not have the same instructions"]
        return "\n".join(lines) + "\n"


def diff(run_a: CosimResult | Path | str, run_b: CosimResult | Path | str) -> RunDiff:
    """Compare two stored results. Raises ModelError if one cannot be read."""
    a, b = load_result(run_a), load_result(run_b)
    return RunDiff(
        before=compared_with(a),
        after=compared_with(b),
        verdict=(a.verdict, b.verdict),
        identity=changes(a, b),
        comparisons=tuple(
            DependencyChange(name, x.verdict if x else None, y.verdict if y else None)
            for name in dict.fromkeys(c.name for c in (*a.comparisons, *b.comparisons))
            for x, y in [(a.comparison(name), b.comparison(name))]
        ),
        accuracy=tuple(_paired(_accuracy(a), _accuracy(b))),
        cycles=tuple(_paired(_cycles(a), _cycles(b))),
        errors=tuple(_paired(_errors(a), _errors(b))),
        commits=_commits(a, b),
    )


def _paired(a: dict[str, float], b: dict[str, float]) -> Iterator[Figure]:
    for what in dict.fromkeys((*a, *b)):
        yield Figure(what, a.get(what), b.get(what))


def _accuracy(result: CosimResult) -> dict[str, float]:
    found: dict[str, float] = {}
    for task in result.tasks:
        if task.value is not None:
            found[f"{engine_title(task.engine)} {task.metric}"] = task.value
        found[f"{engine_title(task.engine)} same class as golden"] = task.agreement
    return found


def _cycles(result: CosimResult) -> dict[str, float]:
    found: dict[str, float] = {}
    for row in headline(result):
        if row.cycles is not None:
            found[f"{row.title} cycles"] = row.cycles
        if row.instructions is not None:
            found[f"{row.title} instructions"] = row.instructions
    for cost in performance.operation_costs(result):
        if cost.cycles is not None:
            found[f"{cost.op} cycles"] = cost.cycles
    for traffic in performance.traffic(result):
        found[f"{traffic.memory} bytes"] = traffic.moved
    return found


def _errors(result: CosimResult) -> dict[str, float]:
    found: dict[str, float] = {}
    for comparison in result.comparisons:
        for row in comparison.operations:
            found[f"{comparison.name} {row.op} max abs"] = row.cumulative.max_abs
            if not math.isnan(row.cumulative.sqnr_db):
                found[f"{comparison.name} {row.op} SQNR (dB)"] = row.cumulative.sqnr_db
            if row.held is not None:
                found[f"{comparison.name} {row.op} error / bound"] = row.held.worst_ratio
    return found


def _commits(a: CosimResult, b: CosimResult) -> int | None:
    found_a, found_b = performance.commits_of(a), performance.commits_of(b)
    if found_a is None or found_b is None:
        return None if (found_a is None) != (found_b is None) else 0
    rows_a, rows_b = found_a[1], found_b[1]
    if [(r.instruction, r.ops) for r in rows_a] != [(r.instruction, r.ops) for r in rows_b]:
        return None
    return sum(
        (x.reference_digest, x.other_digest) != (y.reference_digest, y.other_digest) for x, y in zip(rows_a, rows_b, strict=True)
    )


def _figure_row(figure: Figure, write: Callable[[float | None], str]) -> tuple[str, str, str, str]:
    return figure.what, write(figure.before), write(figure.after), _text.times(figure.ratio) if figure.ratio is not None else ""


def _part(title: str, rows: Sequence[tuple[str, str, str, str]], width: int) -> list[str]:
    """Return a title and its rows in columns. Rows that read the same with the digits shown are counted, not listed."""
    if not rows:
        return []
    visible = [row for row in rows if row[1] != row[2]]
    shown = visible[:_MOST_ROWS]
    lines = ["", title]
    widths = [max((len(row[k]) for row in shown), default=0) for k in range(4)]
    left = max(width - sum(widths[1:]) - len("    ->    "), 16)
    for what, before, after, ratio in shown:
        name = _middle_out(what, left)
        lines.append(f"  {name:<{min(widths[0], left)}}  {before:>{widths[1]}} -> {after:>{widths[2]}}  {ratio}".rstrip())
    if len(visible) > len(shown):
        lines.append(f"  and {len(visible) - len(shown):,} more; all of them with --json")
    if len(rows) > len(visible):
        lines.append(f"  {len(rows) - len(visible):,} {'more differ' if shown else 'differ'} in digits that are not shown here")
    return lines


def _middle_out(name: str, length: int) -> str:
    if len(name) <= length:
        return name
    head = (length - 3) // 2
    return f"{name[:head]}...{name[len(name) - (length - 3 - head) :]}"
