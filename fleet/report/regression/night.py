"""Reports of a collected night: HTML page, JSON, JUnit and Markdown. Equal input gives equal bytes."""

from __future__ import annotations

import datetime
import json
import math
import shlex
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path

from markupsafe import Markup

from fleet.core.codec import Json
from fleet.core.files import write_together
from fleet.core.json_text import json_text
from fleet.night.causes import FailureCause
from fleet.night.collect import JudgedNight
from fleet.night.gates import Move
from fleet.night.history import NightRow, headline_cycles
from fleet.regress.night_records import NightRecord, Note
from fleet.report.frame import text as _text
from fleet.report.frame.index import published
from fleet.report.frame.place import About, frame_of
from fleet.report.frame.render import render
from fleet.report.run.junit import JunitDocument

_MOST_MOVES, _MOST_CAUSES, _MOST_KEYS, _MOST_TITLES, _MOST_NOTES = 200, 50, 8, 60, 100
_WIDTH, _HEIGHT = 150, 24
_CELL = 11
_VERDICTS = {"pass": "pass", "fail": "fail"}


@dataclass(frozen=True)
class NightFiles:
    """Paths of the written files."""

    html: Path
    json: Path
    junit: Path
    summary: Path


def write_night(judged: JudgedNight, folder: Path) -> NightFiles:
    """Write index.html, night.json, junit.xml and summary.md together. Raises FleetError if the folder cannot be written."""
    files = NightFiles(folder / "index.html", folder / "night.json", folder / "junit.xml", folder / "summary.md")
    write_together(
        {
            files.json: json_text(_json(judged)),
            files.junit: _junit(judged),
            files.summary: markdown_of(judged),
            files.html: _page(judged, files.html),
        }
    )
    published(files.html)
    return files


# -- JSON, JUnit, Markdown


def _json(judged: JudgedNight) -> dict[str, Json]:
    night = judged.night
    return {
        "schema": 1,
        "night": night.id,
        "at": night.at,
        "until": night.until,
        "revision": night.revision,
        "changed": night.changed,
        "verdict": judged.verdict,
        "exit_code": int(judged.exit_code),
        "headline": judged.headline,
        "partial": judged.reading.partial,
        "planned": night.planned,
        "finished": night.finished,
        "said": list(judged.reading.said),
        "causes": [
            {**{k: v for k, v in asdict(c).items() if k != "records"}, "keys": [r.key for r in c.records], "replay": c.first.replay}
            for c in judged.causes
        ],
        "moves": [{**asdict(m), "before": _number(m.before), "after": _number(m.after)} for m in judged.moves],
        "means": list(judged.means),
        "flaky": dict(judged.flaky),
        "fixed": list(judged.fixed),
        "not_run": [r.key for r in judged.not_run],
        "gone": list(judged.gone),
        "left_out": dict(judged.reading.left_out),
        "notes": [asdict(note) for note in judged.reading.notes],
        "runs": [r.to_json() for r in judged.records],
    }


def _number(value: float | None) -> float | str | None:
    return value if value is None or abs(value) <= 1e308 else str(value)


def _junit(judged: JudgedNight) -> str:
    document = JunitDocument(f"night {judged.night.id}")
    moved: dict[str, list[Move]] = {}
    for move in judged.red:
        moved.setdefault(move.key, []).append(move)
    for r in judged.records:
        failure = (r.error or r.outcome) if r.failed or r.not_run else judged.flaky.get(r.key)
        if failure is None and r.key in moved:
            failure = "; ".join(f"{m.figure}: {m.state}: {m.said}" for m in moved[r.key])
        skipped = r.error or r.outcome if r.outcome in ("skipped", "known failure") else None
        document.add_test(r.kind, r.key, r.file, r.seconds, failure=failure, skipped=skipped, replay=r.replay)
    for key in moved.keys() - {r.key for r in judged.records}:
        text = "; ".join(f"{m.figure}: {m.state}: {m.said}" for m in moved[key])
        document.add_test("means", key, "", 0.0, failure=text, replay="")
    return document.text()


def markdown_of(judged: JudgedNight) -> str:
    """Return the Markdown summary of a night, for a pull request."""
    md = _text.markdown
    lines = [f"# {_text.SYMBOLS.get(judged.verdict, 'INCOMPLETE')}: {judged.headline}", ""]
    lines += [f"- {md(said)}" for said in judged.reading.said]
    for cause in judged.causes:
        lines += ["", f"## {cause.state}: {md(cause.signature)}", "", _since(cause), ""]
        lines += [f"- {md(r.key)}: {md(r.error.splitlines()[0] if r.error else r.outcome)}" for r in cause.records[:_MOST_KEYS]]
        lines += [f"- and {len(cause.records) - _MOST_KEYS} more"] if len(cause.records) > _MOST_KEYS else []
        lines += [f"- suspect: {md(s)}" for s in cause.suspects[:_MOST_KEYS]]
        lines += ["", "```sh", cause.first.replay.replace("```", "'''"), "```"] if cause.first.replay else []
    if judged.moves:
        lines += ["", "| figure | run | before | after | state | details |", "|---|---|---|---|---|---|"]
    for m in judged.moves[:_MOST_MOVES]:
        cells = (m.figure, m.key, _shown(m.before), _shown(m.after), m.state, m.said)
        lines.append("| " + " | ".join(md(c) for c in cells) + " |")
    for title, keys in (
        ("not run", [r.key for r in judged.not_run]), ("fixed", judged.fixed), ("not planned this time", judged.gone),
        ("left out by the budget", sorted(judged.reading.left_out)),
        ("flaky", tuple(judged.flaky)),
    ):  # fmt: skip
        if keys:
            more = f" and {len(keys) - 20} more" if len(keys) > 20 else ""
            lines += ["", f"{title}: {', '.join(map(md, keys[:20]))}{more}"]
    return "\n".join(lines) + "\n"


def _since(cause: FailureCause) -> str:
    age = f"since {cause.since}" + (f", {cause.nights} nights" if cause.nights > 1 else "")
    passed = f"; passed last in {cause.passed}" if cause.passed else "; never passed before"
    changed = f"; changed since: {', '.join(cause.changed)}" if cause.changed else ""
    return f"{age}{passed}{changed}"


def _shown(value: float | None) -> str:
    if value is None:
        return _text.ABSENT
    if math.isnan(value):
        return "gone"
    return f"{value:,.0f}" if float(value).is_integer() else f"{value:.5g}"


# -- the page


@dataclass(frozen=True)
class _Card:
    """A cause of failures. named: the first runs, `more`: number of the others."""

    cause: FailureCause
    since: str
    named: Sequence[str]
    more: int
    error: str
    owners: Sequence[str]
    suspects: Sequence[str]
    replay: str


@dataclass(frozen=True)
class _Moved:
    """A figure that moved. spark: its last nights as a line. accept: the command that accepts it; "" if it need not be."""

    move: Move
    spark: Markup
    accept: str


@dataclass(frozen=True)
class _HeatRow:
    title: str
    svg: Markup
    said: str


@dataclass(frozen=True)
class _Heat:
    """The heat map. width, height: of a row, in pixels. more: number of titles left out."""

    rows: Sequence[_HeatRow]
    width: int
    height: int
    more: int


@dataclass(frozen=True)
class _Machine:
    """A process of the night. busy, span: seconds of runs, and from its first to its last. share: busy / span."""

    name: str
    busy: float
    span: float
    share: float


@dataclass(frozen=True)
class _NightPage:
    """The values of the page. rows: all runs as JSON, for the script. more_*: numbers left out."""

    judged: JudgedNight
    night: NightRow
    title: str
    causes: Sequence[_Card]
    more_causes: int
    moves: Sequence[_Moved]
    more_moves: int
    warnings: Sequence[Move]
    known: Sequence[str]
    heat: _Heat
    flaky: Sequence[str]
    left_out: Sequence[str]
    notes: Sequence[Note]
    machines: Sequence[_Machine]
    rows: Markup
    shown: Callable[[float | None], str] = _shown


def _page(judged: JudgedNight, page: Path) -> str:
    moves = [m for m in judged.moves if m.state != "warning"]
    shown = _NightPage(
        judged=judged,
        night=judged.night,
        title={"pass": "PASS", "fail": "FAIL"}.get(judged.verdict, "INCOMPLETE"),
        causes=[_card(c) for c in judged.causes[:_MOST_CAUSES]],
        more_causes=len(judged.causes) - _MOST_CAUSES,
        moves=[_moved(m, judged) for m in moves[:_MOST_MOVES]],
        more_moves=len(moves) - _MOST_MOVES,
        warnings=[m for m in judged.moves if m.state == "warning"][:_MOST_MOVES],
        known=[f"{r.key}: {r.known}" for r in judged.records if r.outcome == "known failure"],
        heat=_heat(judged),
        flaky=[f"{key}: {how}" for key, how in judged.flaky.items() if key not in {r.key for r in judged.records if r.failed}],
        left_out=[f"{node}: {why}" for node, why in sorted(judged.reading.left_out.items())],
        notes=[note for note in judged.reading.notes if note.kind != "dashboard"][-_MOST_NOTES:],
        machines=_machines(judged),
        rows=Markup(_table(judged)),
    )
    about = About(
        "night", f"Night {judged.night.id}", _VERDICTS.get(judged.verdict, "not proved"), judged.headline, judged.night.at
    )
    return render("night.html.j2", shown, frame_of(page, about, "night.js"))


def _card(cause: FailureCause) -> _Card:
    first = cause.first
    return _Card(
        cause=cause,
        since=_since(cause),
        named=[r.key for r in cause.records[:_MOST_KEYS]],
        more=len(cause.records) - _MOST_KEYS,
        error=first.error.splitlines()[0] if first.error else first.outcome,
        owners=sorted({r.owner for r in cause.records if r.owner}),
        suspects=cause.suspects[:_MOST_KEYS],
        replay=first.replay,
    )


def _moved(move: Move, judged: JudgedNight) -> _Moved:
    line = judged.lines.get(move.key, ())
    metric = " ".join(move.figure.split(" ")[: 2 if move.figure.startswith(("mean ", "drift ")) else 1])
    accept = f"fleet night accept {shlex.quote(move.key)} --metric {shlex.quote(metric)} --reason '...' --owner '...'"
    return _Moved(move, Markup(_spark(line)), accept if move.red else "")


def _spark(line: Sequence[float | None]) -> str:
    """Return the cycles of the last nights as an SVG line; "" for fewer than two values."""
    values = [v for v in line if v is not None]
    if len(values) < 2:
        return ""
    low, high = min(values), max(values)
    span, step = (high - low) or 1.0, _WIDTH / max(len(line) - 1, 1)
    points = " ".join(
        f"{i * step:.1f},{_HEIGHT - 2 - (v - low) / span * (_HEIGHT - 4):.1f}" for i, v in enumerate(line) if v is not None
    )
    said = f"cycles of the last {len(line)} nights, {low:,.0f} to {high:,.0f}"
    return (
        f'<svg class="spark" role="img" aria-label="{said}" viewBox="0 0 {_WIDTH} {_HEIGHT}" width="{_WIDTH}" height="{_HEIGHT}">'
        f'<title>{said}</title><polyline points="{points}" fill="none" stroke="currentColor" stroke-width="1.5"/></svg>'
    )


def _heat(judged: JudgedNight) -> _Heat:
    """Return the heat map: titles with the most failures and moves first."""
    at = {name: i for i, name in enumerate(judged.nights)}

    def weight(item: tuple[str, Mapping[str, tuple[int, int, int]]]) -> tuple[int, str]:
        return -sum(failed + moved for _, failed, moved in item[1].values()), item[0]

    rows: list[_HeatRow] = []
    for title, cells in sorted(judged.cells.items(), key=weight)[:_MOST_TITLES]:
        marks: list[str] = []
        for name, (runs, failed, moved) in cells.items():
            kind = "bad" if failed else "moved" if moved else "good" if runs else "open"
            what = f"{name}: {failed} of {runs} failed" + (f", {moved} moved" if moved else "") if runs else f"{name}: not run"
            square = f'<rect class="{kind}" x="{at[name] * _CELL}" y="1" width="{_CELL - 1}" height="{_CELL}"'
            marks.append(f"{square}/>" if kind == "good" else f"{square}><title>{what}</title></rect>")
        bad = sum(failed for _, failed, _ in cells.values())
        rows.append(_HeatRow(title, Markup("".join(marks)), f"{len(cells)} nights, {bad} failures"))
    return _Heat(rows, len(at) * _CELL, _CELL + 2, len(judged.cells) - len(rows))


def _machines(judged: JudgedNight) -> list[_Machine]:
    found: list[_Machine] = []
    for name, (busy, first, last) in sorted(judged.reading.processes.items()):
        span = (datetime.datetime.fromisoformat(last) - datetime.datetime.fromisoformat(first)).total_seconds()
        if busy:
            found.append(_Machine(name.rpartition("-")[0], busy, span, min(1.0, busy / span) if span else 1.0))
    return found


def _table(judged: JudgedNight) -> str:
    """Return all runs as JSON for the script, words as indices into lists; safe inside <script>."""
    words: dict[str, dict[str, int]] = {name: {} for name in ("kind", "outcome", "device", "memory", "file", "state")}

    def at(name: str, word: str) -> int:
        return words[name].setdefault(word, len(words[name]))

    state = {m.key: m.state for m in reversed(judged.moves) if m.state != "warning"}
    rows: list[list[Json]] = []
    for r in judged.records:
        moved = "flaky" if r.key in judged.flaky else state.get(r.key, "")
        rows.append(
            [
                r.key, at("kind", r.kind), at("outcome", r.outcome), at("state", moved), at("device", r.device),
                at("memory", r.memory), headline_cycles(r.figures), round(r.seconds, 2), at("file", r.file), _replay(r),
            ]
        )  # fmt: skip
    table = {"words": {name: list(found) for name, found in words.items()}, "rows": rows}
    return json.dumps(table, separators=(",", ":"), allow_nan=False).replace("<", "\\u003c").replace("&", "\\u0026")


def _replay(record: NightRecord) -> str | int:
    """Return 0 or 1 if the script can derive the command from the row, else the command."""
    run = record.key.partition("[")[2].removesuffix("]")
    if record.replay == f"fleet case run {record.file} --only {run}":
        return 0
    return 1 if record.replay in (f"python -m pytest {record.key}", f"python -m pytest '{record.key}'") else record.replay
