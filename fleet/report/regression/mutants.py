"""The page of the mutants: what was drawn, what was found by which test, and each survivor with its reason.

`write_mutants` writes `index.html` and `README.md` (the same tables) beside `mutants.json`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from fleet.core.files import write_atomically
from fleet.report.frame.index import published
from fleet.report.frame.place import About, frame_of
from fleet.report.frame.render import render
from fleet.report.regression.page_table import PageTable, TablesPage, markdown
from fleet.verify.mutation.mutant import shown
from fleet.verify.mutation.store import MutantRecord, Report


def write_mutants(report: Report, folder: Path) -> Path:
    """Write the files; return the page's path. Raises FleetError."""
    tables = list(_tables(report))
    title = _title(report)
    write_atomically(folder / "README.md", markdown(title, tables).encode())
    page = folder / "index.html"
    bad = any(r.hole for r in report.records)
    shown = TablesPage("Mutants", title, "mutants", bad, tables)
    figures = title.partition(": ")[2]
    text = render("tables.html.j2", shown, frame_of(page, About("mutants", "Mutants", "fail" if bad else "pass", figures)))
    write_atomically(page, text.encode())
    published(page)
    return page


@dataclass(frozen=True)
class _Verdicts:
    """Counts of mutants. equivalent: the same as the program. other: survivors with another reason. holes: without one."""

    drawn: int
    found: int
    equivalent: int
    other: int
    holes: int

    @classmethod
    def of(cls, records: Sequence[MutantRecord]) -> _Verdicts:
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


def _tables(report: Report) -> Iterator[PageTable]:
    rows = tuple(
        (d.device, d.over, f"{d.seed}", f"{d.sites:,}", f"{d.count}", f"{d.seconds:,.0f}",
         f"fleet isa mutants {d.device} --over {d.over} --count {d.count} --seed {d.seed}")
        for d in report.draws
    )  # fmt: skip
    yield PageTable(
        "What was drawn", "Each draw is made again by its command; seconds are wall time, summed over its mutants.",
        ("device", "place", "seed", "mutants there are", "drawn", "seconds", "again"), rows,
        frozenset(range(2, 6)), frozenset({6}), frozenset({6}),
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
    yield PageTable("By place", text, head, _grouped(report, lambda r: f"{r.device}, {r.result.mutant.over}"), numbers)
    yield PageTable("By operator", "", head, _grouped(report, lambda r: r.result.mutant.operator), numbers)
    yield PageTable("By what found them", "", ("test", "mutants"), tuple(_tests(report)), frozenset({1}))
    explained = [r for r in report.records if r.result.verdict == "survived" and r.kind]
    if explained:
        yield _survivors("Survivors, explained", "From the list of survivors: kind and reason.", explained)
    yield PageTable(
        "Every mutant", "", ("id", "device", "place", "operator", "was", "became", "verdict", "by", "how"),
        tuple(_row(r) for r in report.records), frozenset(), frozenset({4, 5}),
    )  # fmt: skip


def _grouped(report: Report, key: Callable[[MutantRecord], str]) -> tuple[tuple[str, ...], ...]:
    groups: dict[str, list[MutantRecord]] = {}
    for r in report.records:
        groups.setdefault(key(r), []).append(r)
    rows: list[tuple[str, ...]] = []
    for name, records in [*sorted(groups.items()), ("all", list(report.records))]:
        rows.append((name, *_Verdicts.of(records).cells))
    return tuple(rows)


def _tests(report: Report) -> Iterator[tuple[str, str]]:
    """Yield kinds of tests and numbers of mutants, the most first."""
    counts: dict[str, int] = {}
    for r in report.records:
        if r.result.verdict == "found":
            kind = _kind(r.result.test)
            counts[kind] = counts.get(kind, 0) + 1
    for name, n in sorted(counts.items(), key=lambda kv: (-kv[1], kv[0])):
        yield name, f"{n}"


def _kind(test: str) -> str:
    """Return the kind of a test: "conformance streams, ..." for a case's name, the file for a unit test."""
    for word in ("directed", "random", "illegal", "program"):
        if f"/{word}/" in test:
            after = " after a reset" if "after a reset" in test else " with other power-on state" if "power-on" in test else ""
            return f"conformance streams, {word}{after}"
    if test.startswith("tests/"):
        return "/".join(test.partition("::")[0].split("/")[:3])
    return "cycles alone, against the unchanged design's" if test == "cycles" else test.partition("[")[0]


def _survivors(title: str, text: str, records: Sequence[MutantRecord]) -> PageTable:
    rows = tuple(
        (r.result.mutant.id, r.result.mutant.place, r.result.mutant.operator, shown(r.result.mutant.before, 70),
         shown(r.result.mutant.after, 70), r.kind or "-", r.reason or "-", r.proof.partition("::")[2] or "-")
        for r in records
    )  # fmt: skip
    return PageTable(
        title,
        text,
        ("id", "place", "operator", "was", "became", "kind", "reason", "test of the reason"),
        rows,
        code=frozenset({3, 4}),
    )


def _row(r: MutantRecord) -> tuple[str, ...]:
    m = r.result.mutant
    verdict = r.result.verdict if not r.kind else r.kind
    return (
        m.id, r.device, m.place, m.operator, shown(m.before, 48), shown(m.after, 48), verdict, r.result.test,
        shown(r.result.how, 90),
    )  # fmt: skip
