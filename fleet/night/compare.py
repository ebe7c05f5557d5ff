"""Compare two nights, branches or folders of reports, as Markdown for a pull request."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, fields
from pathlib import Path

from fleet.core.codec import Json, decode, is_list, is_table
from fleet.core.json_text import parse_json
from fleet.errors import ModelError
from fleet.night import history as h

_ROWS = 50


@dataclass(frozen=True)
class NightSide:
    """One side of a comparison. label: its name. runs: key -> run. whole: whether it has all figures, or rtl's cycles alone."""

    label: str
    runs: Mapping[str, h.RunRow]
    whole: bool = True


@dataclass(frozen=True)
class FigureMove:
    """A figure that differs. after: NaN if it is gone. better, same (whether the contents are equal): None if unknown."""

    key: str
    figure: str
    before: float
    after: float
    better: bool | None
    same: bool | None

    @property
    def gone(self) -> bool:
        """True if the run no longer measures the figure."""
        return math.isnan(self.after)

    @property
    def ratio(self) -> float | None:
        """after / before; None if before is 0."""
        return self.after / self.before if self.before else None


@dataclass(frozen=True)
class NightComparison:
    """Differences between two sides; keys ascend.

    failing, fixed, still: runs that fail only after, only before, on both sides. missing: runs that did not run after. added: new
    runs.
    errors: key -> error after. both: number of runs on both sides.
    """

    before: str
    after: str
    failing: tuple[str, ...]
    fixed: tuple[str, ...]
    still: tuple[str, ...]
    missing: tuple[str, ...]
    added: tuple[str, ...]
    moves: tuple[FigureMove, ...]
    errors: Mapping[str, str] = field(default_factory=dict[str, str])
    both: int = 0

    @property
    def worse(self) -> bool:
        """True if a run newly fails, did not run, takes more cycles, is less accurate, or no longer measures a figure."""
        return bool(self.failing or self.missing) or any(m.better is False for m in self.moves)

    def markdown(self) -> str:
        """Return Markdown: a headline, lists of runs, a table of figures."""
        gone = [m for m in self.moves if m.gone]
        cycles = [m for m in self.moves if m.figure.startswith("cycles ") and not m.gone]
        counts = (
            (len(self.failing), "fail now"), (len(self.fixed), "fixed"), (len(self.still), "fail on both sides"),
            (sum(m.better is False for m in cycles), "slower"), (sum(m.better is True for m in cycles), "faster"),
            (len(self.moves) - len(cycles) - len(gone), "other figures moved"), (len(gone), "figures gone"),
            (len(self.missing), "did not run"),
            (len(self.added), "new runs"),
        )  # fmt: skip
        said = ", ".join(f"{count:,} {words}" for count, words in counts if count) or "nothing differs"
        lines = [f"# {_md(self.before)} -> {_md(self.after)}: {said}", "", f"{self.both:,} runs on both sides."]
        if not cycles:
            lines.append("Cycles: the same in all of them." if not gone else "Cycles: the same in all that have them.")
        for title, keys in (
            ("Fail now", self.failing),
            ("Did not run", self.missing),
            ("Fixed", self.fixed),
            ("Still failing", self.still),
        ):
            if keys:
                lines += ["", f"## {title}", ""]
                lines += [f"- {_md(key)}{_why(self.errors.get(key, ''))}" for key in keys[:_ROWS]]
                lines += [f"- and {len(keys) - _ROWS:,} more"] if len(keys) > _ROWS else []
        if self.moves:
            lines += ["", "## Figures", "", "| run | figure | was | is | | |", "|---|---|---|---|---|---|"]
        for m in self.moves[:_ROWS]:
            times = "" if m.ratio is None or not math.isfinite(m.ratio) else f"x {m.ratio:.4g}"
            word = {True: "better", False: "worse", None: ""}[m.better] + (", THE CONTENT IS EQUAL" if m.same else "")
            lines.append(f"| {_md(m.key)} | {m.figure} | {_shown(m.before)} | {_shown(m.after)} | {times} | {word} |")
        if len(self.moves) > _ROWS:
            lines += ["", f"And {len(self.moves) - _ROWS:,} more."]
        return "\n".join(lines) + "\n"

    def to_json(self) -> dict[str, Json]:
        """Return the comparison as JSON values."""
        names = ("before", "after", "failing", "fixed", "still", "missing", "added")
        moves = [
            {"key": m.key, "figure": m.figure, "before": str(m.before), "after": str(m.after), "better": m.better}
            for m in self.moves
        ]
        return {**{n: getattr(self, n) for n in names}, "moves": moves, "worse": self.worse}


def find_side(text: str, folder: Path) -> NightSide:
    """Find a side: a night, branch or revision of the history in `folder`, or a folder of reports. Raises ModelError."""
    path = Path(text)
    if not path.is_dir():
        with h.NightHistory(folder / h.FILE) as store:
            night = store.find(text)
            return NightSide(night.id if text in (night.id, "last") else f"{text} ({night.id})", store.runs(night.number))
    for found in (path / h.FILE, path / "night" / h.FILE):
        if found.exists():
            with h.NightHistory(found) as store:
                night = store.find("last")
                return NightSide(f"{text} ({night.id})", store.runs(night.number))
    return NightSide(text, _campaign(path / "campaign.json"), whole=False)


@dataclass(frozen=True)
class _CampaignRow:
    """The fields of a run in campaign.json that are compared."""

    name: str
    kind: str
    verdict: str
    elapsed_s: float
    cycles: float | None
    reasons: tuple[str, ...]
    replay: str


def _row(table: Json, where: str) -> _CampaignRow:
    known = {f.name for f in fields(_CampaignRow)}
    return decode(_CampaignRow, {k: v for k, v in table.items() if k in known} if is_table(table) else table, where, "run")


def _campaign(path: Path) -> dict[str, h.RunRow]:
    """Return the runs of a campaign.json, with verdict and cycles only."""
    try:
        table = parse_json(path.read_bytes(), path, "is not a campaign")
    except OSError as error:
        raise ModelError(
            "holds neither a night nor a campaign", where=str(path.parent), hint="give a folder of `pytest sim/`"
        ) from error
    rows = table.get("runs") if is_table(table) else None
    if not is_list(rows):
        raise ModelError("is not a campaign (it lists no runs)", where=str(path))
    outcomes = {"pass": "passed", "skipped": "skipped"}
    return {
        r.name: h.RunRow(
            r.name, r.kind, outcomes.get(r.verdict, "failed"), r.elapsed_s,
            {} if r.cycles is None else {"cycles rtl": r.cycles}, error="; ".join(r.reasons), replay=r.replay, node=r.name,
        )
        for r in (_row(row, str(path)) for row in rows)
    }  # fmt: skip


def compare(a: NightSide, b: NightSide) -> NightComparison:
    """Compare side `a` (before) with side `b` (after)."""
    both = a.runs.keys() & b.runs.keys()
    ran = {k for k in both if b.runs[k].outcome != "not run"}
    moves: list[FigureMove] = []
    for key in both:
        x, y = a.runs[key], b.runs[key]
        if x.figures == y.figures and x.classes == y.classes:
            continue
        same = x.content == y.content if x.content and y.content else None
        moves += [_move(key, name, x.figures[name], y.figures[name], same) for name in _moved(x.figures, y.figures)]
        if y.outcome == "passed":
            lost = [name for name in _gone(x.figures, y.figures) if b.whole or name == "cycles rtl"]
            moves += [FigureMove(key, name, x.figures[name], math.nan, False, same) for name in lost]
        for engine, now in y.classes.items():
            then = x.classes.get(engine)
            if then is not None and then.samples and now.samples and then.correct * now.samples != now.correct * then.samples:
                moves.append(_move(key, f"accuracy {engine}", then.correct / then.samples, now.correct / now.samples, same))
    a_bad, b_bad = ({k for k, r in side.runs.items() if r.outcome == "failed"} for side in (a, b))
    keys = {
        "failing": {k for k in b_bad & ran if k not in a_bad} | (b_bad - both), "fixed": {k for k in a_bad & ran if k not in b_bad},
        "still": a_bad & b_bad & ran, "missing": (a.runs.keys() - both) | (both - ran), "added": b.runs.keys() - both,
    }  # fmt: skip
    errors = {k: b.runs[k].error for k in b_bad}
    moves.sort(key=lambda m: (m.better is not False, m.figure.partition(" ")[0] != "cycles", -_log(m.ratio), m.key, m.figure))
    return NightComparison(
        a.label,
        b.label,
        **{name: tuple(sorted(found)) for name, found in keys.items()},
        moves=tuple(moves),
        errors=errors,
        both=len(both),
    )


def _moved(x: Mapping[str, float], y: Mapping[str, float]) -> Sequence[str]:
    """Return the figures that differ, without cycles and bounds of single operations; SQNR if by more than 0.1 dB."""
    names = [n for n in x if n in y and x[n] != y[n] and (n.count(" ") == 1 or n.startswith("sqnr "))]
    return [n for n in names if not n.startswith("sqnr ") or not abs(x[n] - y[n]) <= 0.1]


def _gone(x: Mapping[str, float], y: Mapping[str, float]) -> Sequence[str]:
    """Return the figures that only the earlier run has, without those of single operations."""
    return [n for n in x if n not in y and n.count(" ") == 1]


def _move(key: str, figure: str, before: float, after: float, same: bool | None) -> FigureMove:
    more_is_better = figure.partition(" ")[0] in ("accuracy", "sqnr", "coverage")
    return FigureMove(key, figure, before, after, (after > before) == more_is_better, same)


def _log(ratio: float | None) -> float:
    return abs(math.log(ratio)) if ratio is not None and 0 < ratio < math.inf else math.inf


def _md(text: str) -> str:
    return "".join(f"\\{c}" if c in "|*`<>" else c for c in " ".join(text.split()))


def _why(error: str) -> str:
    return f": {_md(error.splitlines()[0])[:200]}" if error else ""


def _shown(value: float) -> str:
    if math.isnan(value):
        return "gone"
    return f"{value:,.0f}" if float(value).is_integer() else f"{value:.5g}"
