"""The page of a sweep, its CSV and its JSON, out of an outcome alone."""

from __future__ import annotations

import csv
import io
import json
from dataclasses import replace
from pathlib import Path

import pytest
from html_check import Page
from synthetic_sweep import swept_outcome

from fleet.core.codec import decode, is_table
from fleet.report.regression.sweep import FORM, points_csv, write_sweep
from fleet.sweep.records import SweepOutcome


@pytest.fixture
def outcome() -> SweepOutcome:
    return swept_outcome()


def test_the_page_says_what_the_outcome_says(outcome: SweepOutcome, tmp_path: Path) -> None:
    page = write_sweep(outcome, tmp_path / "sweep")
    text = page.read_text()
    assert Page(text).problems == []
    for said in (
        "4 points, 2 on the front, 1 in RTL", "model.py:&lt;f&gt;", "too &lt;small&gt;", "a tree has two inputs", "a &lt;table&gt;",
        "+2.83 %", "fleet sweep model.py:f",
        "at most 121 MHz: control (a &lt;table&gt;). There is no synthesis table with the clock",
        "--device dev@Lanes=8 --group 32 --memory timed",
    ):  # fmt: skip
        assert said in text, said
    assert text.count("<svg") == 2
    stored = json.loads(page.with_name("sweep.json").read_text())
    assert is_table(stored)
    assert stored.pop("form") == FORM
    assert decode(SweepOutcome, stored, "sweep.json") == outcome


def test_a_set_without_constants_says_so(outcome: SweepOutcome, tmp_path: Path) -> None:
    text = write_sweep(
        replace(outcome, energy=(), area=(), errors=(), verdict="fail", reasons=("rtl: fail",)), tmp_path
    ).read_text()
    for said in (
        "states no constants of energy",
        "No part of this instruction set was synthesised",
        "nothing is stated",
        "rtl: fail",
    ):
        assert said in text
    assert 'class="banner fail"' in text


def test_csv_has_a_row_for_every_point(outcome: SweepOutcome) -> None:
    rows = list(csv.DictReader(io.StringIO(points_csv(outcome))))
    header = points_csv(outcome).splitlines()[0].split(",")
    assert len(set(header)) == len(header)
    assert [r["memory"] for r in rows] == ["ideal", "ideal", "ideal", "timed"]
    assert [r["Lanes"] for r in rows] == ["2", "4", "8", "8"]
    assert [r["refused"] for r in rows] == ["too <small>", "", "", ""]
    last = rows[-1]
    assert (last["cycles"], last["us"], last["SQNR"], last["front"]) == ("1234", "12.3400", "20.5", "1")
    assert (last["rtl_cycles"], last["rtl_instruction_cycles"], last["estimate_over_rtl"]) == ("1300", "1200", "1.02833")
    assert (last["LUT"], last["macs"], last["rtl_verdict"]) == ("1256", "64", "pass")
    assert rows[1]["rtl_cycles"] == ""
