"""The page of coverage out of an account written by hand."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from fleet.isa.registry import find_device
from fleet.report.regression.coverage import Share, write_coverage
from fleet.verify.coverage.account import CoverageAccount, Met, Point, Tried
from fleet.verify.coverage.bins import BinSpace, space_of
from fleet.verify.coverage.rtl import MissedLine, ModuleCoverage, RtlCoverage
from fleet.verify.coverage.run import new_account


@pytest.fixture(scope="module")
def space() -> BinSpace:
    return space_of(*find_device("vgemm_small"))


def half_met(space: BinSpace) -> CoverageAccount:
    account = new_account(space)
    account.met = {k: Met(1, "vgemm_small/program/0", "ideal/regs") for k in space.open[::2]}
    account.tried["load:field:load_w2.y_size:other"] = Tried(3, "it is <too> large")
    account.curve = [Point(10, 5, 100, 50), Point(20, 11, len(account.met), 90)]
    account.seeds, account.steered, account.programs, account.instructions, account.cpu = [4], True, 12, 90, 11.0
    return account


def test_figures_are_those_of_the_account(space: BinSpace, tmp_path: Path) -> None:
    account = half_met(space)
    page = write_coverage(space, account, None, tmp_path)
    text, figures = page.read_text(), json.loads((tmp_path / "summary.json").read_text())
    met = len(space.open[::2])
    assert figures["all"] == {"met": met, "every": len(space.open)}
    assert sum(f["met"] for f in figures["bins"].values()) == met
    assert figures["impossible"] == len(space.bins) - len(space.open)
    assert f"{met:,} of {len(space.open):,}" in text
    assert "all agree" in text
    assert "http://" not in text
    assert len(text) < 300_000


def test_every_reason_of_an_impossible_bin_stands_there(space: BinSpace, tmp_path: Path) -> None:
    text = write_coverage(space, half_met(space), None, tmp_path).read_text()
    for why in {why for why in space.bins.values() if why is not None}:
        assert why.replace("&", "&amp;").replace("<", "&lt;") in text


def test_failures_and_text_of_refusals_are_shown_and_escaped(space: BinSpace, tmp_path: Path) -> None:
    account = half_met(space)
    account.met.pop("load:field:load_w2.y_size:other", None)
    account.failures = ["vgemm_small/program/0 ideal/regs: <1> commit differs"]
    text = write_coverage(space, account, None, tmp_path).read_text()
    assert "&lt;1&gt; commit differs" in text
    assert "it is &lt;too&gt; large" in text
    assert "all agree" not in text


def test_hardware_with_its_missed_lines(space: BinSpace, tmp_path: Path) -> None:
    rtl = RtlCoverage(
        "vgemm_small", "h", 2, [ModuleCoverage("m", (9, 10), (3, 4), (5, 8), (1, 2))],
        [MissedLine("m.sv", 7, "if (p) assert (q);", "assertion"), MissedLine("m.sv", 9, "x <= 1;", "line", "tied to 0")],
    )  # fmt: skip
    text = write_coverage(space, half_met(space), rtl, tmp_path).read_text()
    for part in ("9/10", "90.0 %", "m.sv:7 (assertion)  if (p) assert (q);", "m.sv:9 excluded: tied to 0"):
        assert part in text
    assert json.loads((tmp_path / "summary.json").read_text())["hardware"]["assertions"] == [1, 2]


def test_shares() -> None:
    assert [Share(a, b).level for a, b in ((0, 0), (0, 3), (1, 2), (99, 100), (3, 3))] == ["none", "h0", "h5", "h9", "h10"]
    assert Share(0, 0).fraction is None
