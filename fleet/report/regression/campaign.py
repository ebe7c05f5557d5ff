"""The report of many runs: an index with a matrix of verdicts, the page of each run behind its cell, and the tests beside them."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

from fleet.core.codec import Json
from fleet.core.files import write_together
from fleet.core.json_text import json_text
from fleet.cosim.result import CosimResult, load_result
from fleet.report.frame.index import published
from fleet.report.frame.place import About, frame_of
from fleet.report.frame.render import render
from fleet.report.frame.text import engine_title
from fleet.report.run.headline import headline
from fleet.report.run.junit import JunitDocument
from fleet.report.run.page import ReportFiles, write_report

_BESIDE = ("faults", "mutants")
"""Folders beside the index with pages that prove that the check can fail; the index links them if they exist."""


@dataclass(frozen=True)
class CampaignEntry:
    """One run of a campaign, or one test beside the runs.

    Attributes:
        name: of the case with its parameters, unique in the campaign ("digits[hbm_small-ideal-0]").
        result: the stored result or its path; None if the run left none.
        error: why there is no result (one line); such a run counts as failed.
        replay: the command that runs it again; if empty, the result's own.
        model, device, memory: for the matrix if there is no result.
        kind: "case" for a run; for a test its folder ("conformance"), or another kind of record ("session").
        outcome: without a result: "passed", "failed", "skipped" or "not run"; None for a run, which then counts as failed.
        seconds: of a test. file: file of the run or the test.
    """

    name: str
    result: CosimResult | Path | str | None
    error: str | None = None
    replay: str = ""
    model: str = ""
    device: str = ""
    memory: str = ""
    kind: str = "case"
    outcome: str | None = None
    seconds: float = 0.0
    file: str = ""


@dataclass(frozen=True)
class CampaignFiles:
    """The written files. runs: entry name -> the files of its own report."""

    html: Path
    json: Path
    junit: Path
    summary: Path
    runs: Mapping[str, ReportFiles] = field(default_factory=dict[str, ReportFiles])


@dataclass(frozen=True)
class _Row:
    """One run as the matrix shows it. cells: engine -> (verdict word, details)."""

    name: str
    model: str
    device: str
    memory: str
    seed: str
    verdict: str
    reasons: tuple[str, ...]
    replay: str
    page: str | None
    samples: int | None
    cycles: int | None
    seconds: float
    cells: Mapping[str, tuple[str, str]]
    kind: str = "case"
    file: str = ""


@dataclass(frozen=True)
class _Kind:
    """The tests of one kind, counted."""

    name: str
    rows: tuple[_Row, ...]

    def count(self, verdict: str) -> int:
        return sum(row.verdict == verdict for row in self.rows)

    @property
    def size(self) -> int:
        return len(self.rows)

    @property
    def seconds(self) -> float:
        return sum(row.seconds for row in self.rows)

    @property
    def verdict(self) -> str:
        return "fail" if self.count("fail") else "pass" if self.count("pass") else "skipped"


@dataclass(frozen=True)
class _CampaignPage:
    """The values of the page. rows: runs of cases. failed: rows of every kind that neither passed nor were skipped."""

    rows: Sequence[_Row]
    kinds: Sequence[_Kind]
    engines: Sequence[str]
    failed: Sequence[_Row]
    verdict: str
    said: str
    seconds: float
    beside: Sequence[str]


def write_campaign(
    results: Sequence[CampaignEntry | CosimResult | Path | str], out_dir: Path | str, *, pages: bool = True
) -> CampaignFiles:
    """Write the page of each run under `out_dir/runs/`, then index.html, campaign.json, junit.xml and summary.md.

    pages: whether runs that pass get a page too.

    The index is replaced last, when everything that it links is on the disk. The campaign fails if an entry is neither a pass nor
    skipped, and if nothing passed.

    Raises:
        ModelError: a stored result is damaged or missing.
        FleetError: the folder cannot be written.
    """

    folder = Path(out_dir)
    entries = [e if isinstance(e, CampaignEntry) else _entry(e) for e in results]
    titles = _distinct([e.name for e in entries])
    entries = [replace(e, name=title) for e, title in zip(entries, titles, strict=True)]
    names = _distinct([re.sub(r"[^A-Za-z0-9_-]+", "-", title).strip("-")[:80] or "run" for title in titles])
    runs: dict[str, ReportFiles] = {}
    rows: list[_Row] = []
    loaded: list[CosimResult] = []
    document = JunitDocument("campaign")
    for entry, name in zip(entries, names, strict=True):
        result = None if entry.result is None else load_result(entry.result)
        row = _row(entry, result, f"runs/{name}/index.html")
        has_page = result is not None and (pages or row.verdict != "pass")
        rows.append(row if has_page else replace(row, page=None))
        if result is not None:
            loaded.append(result)
            if has_page:
                runs[entry.name] = write_report(result, folder / "runs" / name)
            document.add_result(result, entry.name, entry.file or result.identity.model.partition(":")[0], entry.error)
        else:
            why = "; ".join(row.reasons) or None
            failure, skipped = (
                (why or row.verdict, None) if row.verdict == "fail" else (None, why if row.verdict == "skipped" else None)
            )
            kind = entry.name if entry.kind == "case" else entry.kind
            title = "run" if entry.kind == "case" else entry.name
            document.add_test(kind, title, entry.file, row.seconds, failure=failure, skipped=skipped, replay=row.replay)
    files = CampaignFiles(folder / "index.html", folder / "campaign.json", folder / "junit.xml", folder / "summary.md", runs)
    cases = [row for row in rows if row.kind == "case"]
    kinds = [
        _Kind(kind, tuple(r for r in rows if r.kind == kind)) for kind in dict.fromkeys(r.kind for r in rows) if kind != "case"
    ]
    failed = [row for row in rows if row.verdict not in ("pass", "skipped")]
    passed = sum(row.verdict == "pass" for row in rows)
    verdict = "fail" if failed else "pass" if passed else "nothing compared"
    said = _said(cases, kinds)
    shown = _CampaignPage(
        rows=cases,
        kinds=kinds,
        engines=tuple(dict.fromkeys(engine for row in cases for engine in row.cells)),
        failed=failed,
        verdict=verdict,
        said=said,
        seconds=sum(row.seconds for row in cases),
        beside=[name for name in _BESIDE if (folder / name / "index.html").is_file()],
    )
    dates = [load.identity.date for load in loaded]
    about = About("campaign", f"Campaign {folder.absolute().name}", verdict, said, max(dates, default=""))
    write_together(
        {
            files.json: json_text(_json(rows, verdict)),
            files.junit: document.text(),
            files.summary: _summary(cases, kinds, failed, verdict),
            files.html: render("campaign.html.j2", shown, frame_of(files.html, about)),
        }
    )
    published(files.html)
    return files


def _entry(source: CosimResult | Path | str) -> CampaignEntry:
    result = load_result(source)
    i = result.identity
    parts = (i.device.name if i.device else "host", i.memory, str(i.seed))
    name = i.case or i.model
    return CampaignEntry(name if name.endswith("]") else f"{name}[{'-'.join(parts)}]", result)


def _distinct(names: Sequence[str]) -> list[str]:
    """Return the names with "-2", "-3", ... appended to repeated ones; letter case does not count, as on some file systems."""
    made: list[str] = []
    taken: set[str] = set()
    for name in names:
        candidate, n = name, 2
        while candidate.lower() in taken:
            candidate, n = f"{name}-{n}", n + 1
        taken.add(candidate.lower())
        made.append(candidate)
    return made


def _row(entry: CampaignEntry, result: CosimResult | None, page: str) -> _Row:
    if result is None:
        verdict = _VERDICTS.get(entry.outcome or "failed", "fail")
        # A run whose test passed but left no result has compared nothing.
        verdict = "fail" if entry.kind == "case" and verdict == "pass" else verdict
        reasons = () if verdict == "pass" else (entry.error or "left no result",)
        return _Row(
            entry.name, entry.model, entry.device, entry.memory, "", verdict, reasons, entry.replay, None, None, None,
            entry.seconds, {}, entry.kind, entry.file,
        )  # fmt: skip
    i = result.identity
    cells: dict[str, tuple[str, str]] = {}
    clock = None
    for row in headline(result):
        verdict = "fail" if row.status != "ran" or row.check_verdict == "fail" else row.check_verdict or "info"
        cells[row.engine] = (verdict, row.error or row.check or row.status)
        clock = row.cycles if clock is None else clock
    bad = entry.error or entry.outcome in ("failed", "not run")
    verdict = "fail" if bad and result.verdict == "pass" else result.verdict
    return _Row(
        name=entry.name,
        model=i.model,
        device=i.device.name if i.device else "",
        memory=i.memory,
        seed=str(i.seed),
        verdict=verdict,
        reasons=((entry.error,) if entry.error else ()) + result.reasons,
        replay=entry.replay or i.command,
        page=page,
        samples=result.data.samples,
        cycles=clock,
        seconds=sum(e.elapsed_s for e in result.engines),
        cells=cells,
        file=entry.file,
    )


_VERDICTS = {"passed": "pass", "failed": "fail", "not run": "fail", "skipped": "skipped"}


def _said(cases: Sequence[_Row], kinds: Sequence[_Kind]) -> str:
    """Return in one clause how much passed: "5 of 6 runs of cases pass, 12 of 12 conformance"."""
    parts = [f"{sum(r.verdict == 'pass' for r in cases)} of {len(cases)} runs of cases pass"] if cases else []
    parts += [f"{k.count('pass')} of {len(k.rows)} {k.name} pass" for k in kinds]
    return ", ".join(parts)


def _json(rows: Sequence[_Row], verdict: str) -> dict[str, Json]:
    return {
        "schema": 1,
        "verdict": verdict,
        "runs": [
            {
                "name": r.name,
                "kind": r.kind,
                "file": r.file,
                "model": r.model,
                "device": r.device,
                "memory": r.memory,
                "seed": r.seed,
                "verdict": r.verdict,
                "reasons": list(r.reasons),
                "replay": r.replay,
                "page": r.page,
                "cycles": r.cycles,
                "elapsed_s": r.seconds,
                "engines": {engine: {"verdict": v, "check": text} for engine, (v, text) in r.cells.items()},
            }
            for r in rows
        ],
    }


def _summary(rows: Sequence[_Row], kinds: Sequence[_Kind], failed: Sequence[_Row], verdict: str) -> str:
    from fleet.report.frame.text import SYMBOLS, count, duration, markdown

    lines = [f"# {SYMBOLS[verdict]}: {_said(rows, kinds) or 'nothing ran'}", ""]
    if rows:
        lines += ["| run | device | memory | verdict | engines | cycles | time |", "|---|---|---|---|---|---|---|"]
    for r in rows:
        engines = ", ".join(markdown(engine_title(e)) for e in r.cells)
        cells = (
            markdown(r.name),
            markdown(r.device),
            markdown(r.memory),
            SYMBOLS[r.verdict],
            engines,
            count(r.cycles),
            duration(r.seconds if r.cells else None),
        )
        lines.append("| " + " | ".join(cells) + " |")
    if kinds:
        lines += ["", "| tests | verdict | passed | failed | skipped | time |", "|---|---|---|---|---|---|"]
    for k in kinds:
        counts = [str(k.count(verdict)) for verdict in ("pass", "fail", "skipped")]
        lines.append("| " + " | ".join((markdown(k.name), SYMBOLS[k.verdict], *counts, duration(k.seconds))) + " |")
    for r in failed:
        lines += [
            "",
            f"{markdown(r.name)}: {markdown('; '.join(r.reasons[:5]))}",
            "",
            "```sh",
            " ".join(r.replay.split()).replace("```", "'''"),
            "```",
        ]
    return "\n".join(lines) + "\n"
