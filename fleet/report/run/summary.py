"""The result on one screen of Markdown, for a pull request's comment or a terminal."""

from __future__ import annotations

from fleet.cosim.result import CosimResult
from fleet.report.frame import text as _text
from fleet.report.run.changes import changes, compared_with
from fleet.report.run.gaps import gaps
from fleet.report.run.headline import headline
from fleet.report.run.proved import proved

_MOST = 12


def summary(result: CosimResult, previous: CosimResult | None = None) -> str:
    """Return Markdown: verdict, reasons, one row per engine, first divergence, what changed, what was not compared."""
    m = _text.markdown
    identity = result.identity
    lines = [f"# {_text.SYMBOLS[result.verdict]}: {m(identity.case or identity.model)}", ""]
    if result.data.banner:
        lines += [f"> **{m(result.data.banner)}**", ""]
    if result.reasons:
        lines += [*_limited([f"- {m(reason)}" for reason in result.reasons]), ""]
    if found := proved(result):
        lines += [("" if result.verdict == "pass" else "What held: ") + m(" ".join(found)), ""]
    metric = m(result.tasks[0].metric) if result.tasks else "task figure"
    level = f"{100 * result.tasks[0].confidence:.4g} % " if result.tasks else ""
    lines += [
        f"| engine | evidence | {metric} | {level}interval | = golden | check | cycles | instructions | time |",
        "|" + "---|" * 9,
    ]
    for row in headline(result):
        symbol = _text.SYMBOLS[row.check_verdict] + ": " if row.check_verdict in {"pass", "fail", "not proved"} else ""
        check = symbol + m(row.check) if row.status == "ran" else "✘ " + m(row.error or row.status)
        cells = [
            m(row.title),
            row.evidence or _text.ABSENT,
            _text.percent(row.accuracy),
            m(_text.interval(row.low, row.high)),
            _text.percent(row.agreement),
            check,
            _text.count(row.cycles),
            _text.count(row.instructions),
            _text.duration(row.elapsed_s) if row.status == "ran" else _text.ABSENT,
        ]
        lines.append("| " + " | ".join(cells) + " |")
    lines.append("")
    if result.divergence:
        d = result.divergence
        place = f"commit {d.seq}, {d.instruction}" if d.seq is not None else ", ".join(d.ops)
        lines += [f"First divergence ({m(d.comparison)}): {m(place)}: {m(d.what)}", ""]
        for e in d.differences[:3]:
            lines.append(f"- {m(e.where)}: expected {m(e.expected)}, found {m(e.found)}")
        lines.append("")
    if previous:
        moved = [c for c in changes(previous, result) if c.changed]
        lines += [
            f"Since {m(compared_with(previous))}: "
            + (m(", ".join(c.what for c in moved)) or "nothing that identifies a run")
            + " changed.",
            "",
        ]
    missing = gaps(result)
    if missing:
        lines += ["Not compared:", "", *_limited([f"- {m(gap.text())}" for gap in missing]), ""]
    lines += ["Run it again:", "", "```sh", _one_line(identity.command), "```", ""]
    return "\n".join(lines)


def _limited(lines: list[str]) -> list[str]:
    return lines if len(lines) <= _MOST else [*lines[:_MOST], f"- and {len(lines) - _MOST} more"]


def _one_line(text: str) -> str:
    return " ".join(text.split()).replace("```", "'''")
