"""The page of the mutants: what was drawn, what was found by which test, and every survivor with its reason.

`write_mutants` leaves `index.html` and `README.md` (the same tables) beside `mutants.json`.
"""

from __future__ import annotations

import html
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from fleet.core.files import write_atomically
from fleet.verify.mutation.mutant import shown
from fleet.verify.mutation.store import Record, Report

__all__ = ["write_mutants"]

_STYLE = """:root{color-scheme:light dark}body{font:15px/1.45 system-ui,sans-serif;max-width:80rem;margin:2rem auto;padding:0 1rem}
table{border-collapse:collapse;margin:.6rem 0 1.6rem}td,th{border-bottom:1px solid #8885;padding:.25rem .7rem;text-align:left;
vertical-align:top}td.n{text-align:right;font-variant-numeric:tabular-nums;white-space:nowrap}code{font-size:.92em;overflow-wrap:anywhere}
h2{margin-top:2.2rem}.bad{color:#d33}.wide{overflow-x:auto}"""


@dataclass(frozen=True)
class _Table:
    """numbers: columns that are set to the right; code: columns that are program text."""

    title: str
    text: str
    head: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]
    numbers: frozenset[int] = frozenset()
    code: frozenset[int] = frozenset()


def write_mutants(report: Report, folder: Path) -> Path:
    """Writes the files; returns the page's path. Raises FleetError."""
    tables = list(_tables(report))
    title = _title(report)
    write_atomically(folder / "README.md", _markdown(title, tables).encode())
    page = folder / "index.html"
    write_atomically(page, _page(title, tables, bad=any(r.hole for r in report.records)).encode())
    return page


@dataclass(frozen=True)
class _Verdicts:
    """Of some mutants. equivalent: the program itself; other: survivors with another reason; holes: without one."""

    drawn: int
    found: int
    equivalent: int
    other: int
    holes: int

    @classmethod
    def of(cls, records: Sequence[Record]) -> _Verdicts:
        found = sum(r.result.verdict == "found" for r in records)
        equivalent = sum(r.result.verdict == "survived" and r.kind == "equivalent" for r in records)
        holes = sum(r.hole for r in records)
        return cls(len(records), found, equivalent, len(records) - found - equivalent - holes, holes)

    @property
    def cells(self) -> tuple[str, ...]:
        counts = (self.drawn, self.found, self.equivalent, self.other, self.holes)
        return (*map(str, counts), _share(self.found, self.drawn), _share(self.found, self.drawn - self.equivalent))


def _title(report: Report) -> str:
    v = _Verdicts.of(report.records)
    share = _share(v.found, v.drawn - v.equivalent)
    return f"Mutants: {v.found} of {v.drawn} found, {v.equivalent} are the program itself: {share} of the others; {v.holes} holes"


def _share(found: int, of: int) -> str:
    return f"{100 * found / of:.1f} %" if of else "-"


def _tables(report: Report) -> Iterator[_Table]:
    rows = tuple(
        (d.device, d.over, f"{d.seed}", f"{d.sites:,}", f"{d.count}", f"{d.seconds:,.0f}",
         f"fleet isa mutants {d.device} --over {d.over} --count {d.count} --seed {d.seed}")
        for d in report.draws
    )  # fmt: skip
    yield _Table(
        "What was drawn", "Each draw is made again by its command; seconds are wall time, summed over its mutants.",
        ("device", "place", "seed", "mutants there are", "drawn", "seconds", "again"), rows, frozenset(range(2, 6)), frozenset({6}),
    )  # fmt: skip
    holes = [r for r in report.records if r.hole]
    if holes:
        yield _survivors("Holes", "Survivors that nobody has explained: a check is missing.", holes)
    head = ("", "drawn", "found", "equivalent", "other reason", "holes", "found of drawn", "found of what is not equivalent")
    numbers = frozenset(range(1, 8))
    proved = sum(bool(r.proof) and r.kind == "equivalent" and r.result.verdict == "survived" for r in report.records)
    every = _Verdicts.of(report.records)
    text = (
        f"Equivalent: nobody can tell it from the program; of {proved} of these a test goes through all that the reason speaks "
        f"of, of the others it is an argument (with those {proved} alone left out {_share(every.found, every.drawn - proved)} are "
        "found). Other reason: it changes only cycles, or what the cost model expects within its gate."
    )
    yield _Table("By place", text, head, _grouped(report, lambda r: f"{r.device}, {r.result.mutant.over}"), numbers)
    yield _Table("By operator", "", head, _grouped(report, lambda r: r.result.mutant.operator), numbers)
    yield _Table("By what found them", "", ("test", "mutants"), tuple(_tests(report)), frozenset({1}))
    explained = [r for r in report.records if r.result.verdict == "survived" and r.kind]
    if explained:
        yield _survivors("Survivors, explained", "From the list of survivors: kind and reason.", explained)
    yield _Table(
        "Every mutant", "", ("id", "device", "place", "operator", "was", "became", "verdict", "by", "how"),
        tuple(_row(r) for r in report.records), frozenset(), frozenset({4, 5}),
    )  # fmt: skip


def _grouped(report: Report, key: Callable[[Record], str]) -> tuple[tuple[str, ...], ...]:
    groups: dict[str, list[Record]] = {}
    for r in report.records:
        groups.setdefault(key(r), []).append(r)
    rows: list[tuple[str, ...]] = []
    for name, records in [*sorted(groups.items()), ("all", list(report.records))]:
        rows.append((name, *_Verdicts.of(records).cells))
    return tuple(rows)


def _tests(report: Report) -> Iterator[tuple[str, str]]:
    """Kinds of tests, most first."""
    counts: dict[str, int] = {}
    for r in report.records:
        if r.result.verdict == "found":
            kind = _kind(r.result.test)
            counts[kind] = counts.get(kind, 0) + 1
    for name, n in sorted(counts.items(), key=lambda kv: (-kv[1], kv[0])):
        yield name, f"{n}"


def _kind(test: str) -> str:
    """ "directed cases" for a case's name, the file for a unit test."""
    for word in ("directed", "random", "illegal", "program"):
        if f"/{word}/" in test:
            after = " after a reset" if "after a reset" in test else " with other power-on state" if "power-on" in test else ""
            return f"conformance streams, {word}{after}"
    if test.startswith("tests/"):
        return "/".join(test.partition("::")[0].split("/")[:3])
    return "cycles alone, against the unchanged design's" if test == "cycles" else test.partition("[")[0]


def _survivors(title: str, text: str, records: Sequence[Record]) -> _Table:
    rows = tuple(
        (r.result.mutant.id, r.result.mutant.place, r.result.mutant.operator, shown(r.result.mutant.before, 70),
         shown(r.result.mutant.after, 70), r.kind or "-", r.reason or "-", r.proof.partition("::")[2] or "-")
        for r in records
    )  # fmt: skip
    return _Table(
        title,
        text,
        ("id", "place", "operator", "was", "became", "kind", "reason", "test of the reason"),
        rows,
        code=frozenset({3, 4}),
    )


def _row(r: Record) -> tuple[str, ...]:
    m = r.result.mutant
    verdict = r.result.verdict if not r.kind else r.kind
    return (
        m.id, r.device, m.place, m.operator, shown(m.before, 48), shown(m.after, 48), verdict, r.result.test,
        shown(r.result.how, 90),
    )  # fmt: skip


def _markdown(title: str, tables: Sequence[_Table]) -> str:
    lines = [f"# {title}", ""]
    for t in tables:
        lines += [
            f"## {t.title}",
            "",
            *([t.text, ""] if t.text else []),
            "| " + " | ".join(t.head) + " |",
            "|" + "---|" * len(t.head),
        ]
        for row in t.rows:
            cells = [c.replace("|", "\\|") for c in row]
            lines.append("| " + " | ".join(f"`{c}`" if i in t.code else c for i, c in enumerate(cells)) + " |")
        lines.append("")
    return "\n".join(lines)


def _page(title: str, tables: Sequence[_Table], *, bad: bool) -> str:
    e = html.escape
    parts = [
        f'<!doctype html><html lang="en"><meta charset="utf-8"><title>{e(title)}</title>',
        f'<meta name="viewport" content="width=device-width"><style>{_STYLE}</style><body>',
        f"<h1{' class=bad' if bad else ''}>{e(title)}</h1>",
    ]
    for t in tables:
        parts.append(f'<h2>{e(t.title)}</h2><p>{e(t.text)}</p><div class="wide"><table><tr>')
        parts += [f"<th>{e(h)}</th>" for h in t.head]
        parts.append("</tr>")
        for row in t.rows:
            cells = (
                f"<td{' class=n' if i in t.numbers else ''}>{f'<code>{e(c)}</code>' if i in t.code else e(c)}</td>"
                for i, c in enumerate(row)
            )
            parts.append("<tr>" + "".join(cells) + "</tr>")
        parts.append("</table></div>")
    return "\n".join(parts) + "\n</body></html>\n"
