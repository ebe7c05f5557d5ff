"""The page of planted faults, out of rows alone."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from html_check import Page

from fleet.errors import ModelError
from fleet.report.regression.faults import FaultRow, classes_of, write_faults_report


def row(name: str, kind: str, *, found: bool = True, localised: bool = True) -> dict[str, Any]:
    return {
        "name": name, "class": kind, "what": "a <bit> is stuck", "place": "a.sv", "found": found, "test": "rtl-vs-iss",
        "localised": localised, "seconds": 1.5, "right_place": "instruction 3 gemm", "named": "commit 3 (gemm)",
        "command": "fleet.cli.main stream run x", "exit_code": 1, "output": "FAIL <x>", "why_not": "" if localised else "not named",
    }  # fmt: skip


def test_the_page_and_its_json_say_the_same(tmp_path: Path) -> None:
    rows = [row("a", "RTL"), row("b", "RTL", localised=False), row("c", "VM", found=False, localised=False)]
    page = write_faults_report(rows, tmp_path, revision="abc", descriptions={"one": "0" * 64})
    stored = json.loads((tmp_path / "faults.json").read_text())
    assert stored["faults"] == rows
    assert (stored["total"], stored["found"], stored["localised"]) == (3, 2, 1)
    text = page.read_text()
    assert Page(text).problems == []
    assert "2 of 3 found" in text
    assert "1 of 3 localised" in text
    assert "a &lt;bit&gt; is stuck" in text
    assert 'class="banner fail"' in text


def test_all_found_passes_and_nothing_planted_does_not(tmp_path: Path) -> None:
    assert 'class="banner pass"' in write_faults_report([row("a", "RTL")], tmp_path, revision="", descriptions={}).read_text()
    assert 'class="banner fail"' in write_faults_report([], tmp_path, revision="", descriptions={}).read_text()


def test_classes_keep_their_order_and_count() -> None:
    rows = [row("a", "VM"), row("b", "RTL", localised=False), row("c", "VM")]
    found = classes_of([FaultRow.of(r) for r in rows])
    assert [(c.name, len(c.rows), c.found, c.localised, c.seconds) for c in found] == [("VM", 2, 2, 2, 3.0), ("RTL", 1, 1, 0, 1.5)]


def test_a_row_without_a_key_is_refused(tmp_path: Path) -> None:
    bad = {k: v for k, v in row("a", "RTL").items() if k != "test"}
    with pytest.raises(ModelError, match="no 'test'"):
        write_faults_report([bad], tmp_path, revision="", descriptions={})
    assert not list(tmp_path.iterdir())
