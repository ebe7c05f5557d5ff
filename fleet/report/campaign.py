"""The report of many runs: one index with a matrix of verdicts, and the page of every run behind its cell."""

from __future__ import annotations

import json
import re
import xml.etree.ElementTree as ET
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from fleet.cosim.files import write_together
from fleet.cosim.result import CosimResult
from fleet.report.headline import engine_title, headline
from fleet.report.junit import junit
from fleet.report.page import ReportFiles, load_result, write_report

__all__ = ["CampaignEntry", "CampaignFiles", "write_campaign"]


_BESIDE = ("faults", "mutants")
"""Pages in folders beside the index that prove that the check can fail; linked where they are."""


@dataclass(frozen=True)
class CampaignEntry:
    """One run of a campaign.

    Attributes:
        name: of the case with its parameters, unique in the campaign ("digits[hbm_small-ideal-0]").
        result: the stored result or where it stands; None when the case did not come so far.
        error: why there is no result (one line); such a case counts as failed.
        replay: the one command that runs it again; the result's own when empty.
        model, device, memory: for the matrix where there is no result.
    """

    name: str
    result: CosimResult | Path | str | None
    error: str | None = None
    replay: str = ""
    model: str = ""
    device: str = ""
    memory: str = ""


@dataclass(frozen=True)
class CampaignFiles:
    """What was written; `runs`: entry name -> the files of its own report."""

    html: Path
    json: Path
    junit: Path
    summary: Path
    runs: Mapping[str, ReportFiles] = field(default_factory=dict[str, ReportFiles])


@dataclass(frozen=True)
class _Row:
    """One run as the matrix shows it; cells: engine -> (verdict word, details)."""

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


def write_campaign(results: Sequence[CampaignEntry | CosimResult | Path | str], out_dir: Path | str) -> CampaignFiles:
    """Writes the page of every run under `out_dir/runs/`, then index.html, campaign.json, junit.xml and summary.md.

    The index is replaced last and only when everything behind it is on the disk. An empty campaign is a failed one.

    Raises:
        ModelError: a stored result is damaged or missing.
        FleetError: the folder cannot be written.
    """
    from fleet.report._render import render

    folder = Path(out_dir)
    entries = [e if isinstance(e, CampaignEntry) else _entry(e) for e in results]
    titles = _distinct([e.name for e in entries])
    entries = [replace(e, name=title) for e, title in zip(entries, titles, strict=True)]
    names = _distinct([re.sub(r"[^A-Za-z0-9_-]+", "-", title).strip("-")[:80] or "run" for title in titles])
    runs: dict[str, ReportFiles] = {}
    rows: list[_Row] = []
    suites: list[ET.Element] = []
    for entry, name in zip(entries, names, strict=True):
        result = None if entry.result is None else load_result(entry.result)
        if result is not None:
            runs[entry.name] = write_report(result, folder / "runs" / name)
            suites += _suites(result, entry.name)
        rows.append(_row(entry, result, f"runs/{name}/index.html"))
        if result is None:
            suites.append(_missing(rows[-1]))
    files = CampaignFiles(folder / "index.html", folder / "campaign.json", folder / "junit.xml", folder / "summary.md", runs)
    engines = list(dict.fromkeys(engine for row in rows for engine in row.cells))
    failed = [row for row in rows if row.verdict != "pass"]
    verdict = "nothing compared" if not rows else "fail" if failed else "pass"
    table = {
        "rows": rows,
        "engines": engines,
        "failed": failed,
        "verdict": verdict,
        "seconds": sum(row.seconds for row in rows),
        "beside": [name for name in _BESIDE if (folder / name / "index.html").is_file()],
    }
    write_together(
        {
            files.json: json.dumps(_json(rows, verdict), indent=1, allow_nan=False) + "\n",
            files.junit: _junit(suites),
            files.summary: _summary(rows, failed, verdict),
            files.html: render("campaign.html.j2", table),
        }
    )
    return files


def _entry(source: CosimResult | Path | str) -> CampaignEntry:
    result = load_result(source)
    i = result.identity
    parts = (i.device.name if i.device else "host", i.memory, str(i.seed))
    name = i.case or i.model
    return CampaignEntry(name if name.endswith("]") else f"{name}[{'-'.join(parts)}]", result)


def _distinct(names: Sequence[str]) -> list[str]:
    """The same names, "-2", "-3", ... behind those that were there before (whatever the case: some file systems ignore it)."""
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
        reasons = (entry.error or "the case left no result",)
        return _Row(
            entry.name, entry.model, entry.device, entry.memory, "", "fail", reasons, entry.replay, None, None, None, 0.0, {}
        )
    i = result.identity
    cells: dict[str, tuple[str, str]] = {}
    clock = None
    for row in headline(result):
        verdict = "fail" if row.status != "ran" or row.check_verdict == "fail" else row.check_verdict or "info"
        cells[row.engine] = (verdict, row.error or row.check or row.status)
        clock = row.cycles if clock is None else clock
    verdict = "fail" if entry.error and result.verdict == "pass" else result.verdict
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
    )


def _json(rows: Sequence[_Row], verdict: str) -> dict[str, Any]:
    return {
        "schema": 1,
        "verdict": verdict,
        "runs": [
            {
                "name": r.name,
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


def _suites(result: CosimResult, name: str) -> list[ET.Element]:
    found = list(ET.fromstring(junit(result)))
    for suite in found:
        suite.set("name", f"{name}: {suite.get('name', '')}")
    return found


def _missing(row: _Row) -> ET.Element:
    suite = ET.Element("testsuite", name=row.name, tests="1", failures="1", errors="0", skipped="0")
    case = ET.SubElement(suite, "testcase", classname=row.name, name="run", time="0.000")
    ET.SubElement(case, "failure", message=row.reasons[0]).text = f"replay: {row.replay}"
    return suite


def _junit(suites: Sequence[ET.Element]) -> str:
    def total(key: str) -> str:
        return str(sum(int(s.get(key, "0")) for s in suites))

    root = ET.Element("testsuites", name="campaign", tests=total("tests"), failures=total("failures"), errors="0", skipped="0")
    root.extend(suites)
    ET.indent(root)
    return '<?xml version="1.0" encoding="UTF-8"?>\n' + ET.tostring(root, encoding="unicode") + "\n"


def _summary(rows: Sequence[_Row], failed: Sequence[_Row], verdict: str) -> str:
    from fleet.report._text import SYMBOLS, count, duration, markdown

    lines = [f"# {SYMBOLS[verdict]}: {len(rows) - len(failed)} of {len(rows)} runs pass", ""]
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
            duration(r.seconds if r.page else None),
        )
        lines.append("| " + " | ".join(cells) + " |")
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
