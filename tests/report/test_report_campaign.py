"""The index over many runs, and the difference of two."""

from __future__ import annotations

import json
import math
import xml.etree.ElementTree as ET
from dataclasses import replace
from pathlib import Path

import synthetic_results as synthetic
from html_check import Page

from fleet.cosim.result import CosimResult
from fleet.report.regression.campaign import CampaignEntry, write_campaign
from fleet.report.run.diff import Figure, diff


def quick() -> CosimResult:
    """A passing result without pictures."""
    return replace(synthetic.passing(), comparisons=(), engines=synthetic.passing().engines[:3])


def test_index_links_every_page(tmp_path: Path) -> None:
    good, bad = quick(), replace(synthetic.failing(), comparisons=())
    missing = CampaignEntry("mvm[big]", None, error="ran out of memory", replay="pytest sim/ -k mvm", model="mvm")
    files = write_campaign(
        [good, replace(good, identity=replace(good.identity, memory="stall")), bad, synthetic.hostile(), missing], tmp_path
    )
    parsed = Page.read(files.html)
    assert parsed.problems == []
    assert "<script>alert" not in files.html.read_text()
    links = [h for h in parsed.attributes("href") if h.startswith("runs/")]
    assert len(set(links)) == 4
    for link in links:
        target = (tmp_path / link).resolve()
        assert target.is_relative_to(tmp_path.resolve())
        assert target.exists()
    assert "pytest sim/ -k mvm" in parsed.text
    assert json.loads(files.json.read_text())["verdict"] == "fail"
    junit = ET.fromstring(files.junit.read_text())
    assert junit.get("failures") == str(len(junit.findall(".//failure")))
    assert any(s.get("name") == "mvm[big]" for s in junit)
    assert len(files.runs) == 4


def test_campaign_passes_only_when_every_run_does(tmp_path: Path) -> None:
    def verdict(results: list[object]) -> str:
        return str(json.loads(write_campaign(results, tmp_path).json.read_text())["verdict"])  # type: ignore[arg-type]

    assert verdict([quick()]) == "pass"
    assert verdict([quick(), synthetic.empty()]) == "fail"
    assert verdict([CampaignEntry("x", quick(), error="timed out after the result")]) == "fail"
    assert verdict([]) == "nothing compared"
    assert "✔" not in (tmp_path / "summary.md").read_text()


def test_folder_names_cannot_leave_the_campaign(tmp_path: Path) -> None:
    entries = [CampaignEntry(name, synthetic.empty()) for name in ("../../etc", "..", "/abs", "a/b", "A-B", "")]
    files = write_campaign(entries, tmp_path / "out")
    assert len(files.runs) == len(entries)
    assert all(f.html.resolve().is_relative_to((tmp_path / "out" / "runs").resolve()) for f in files.runs.values())
    assert len({str(f.html).lower() for f in files.runs.values()}) == len(entries)


def test_same_run_has_no_difference() -> None:
    found = diff(synthetic.failing(), synthetic.failing())
    assert found.same
    assert "the same in everything" in found.text()


def test_difference_names_causes_and_effects() -> None:
    before = synthetic.passing()
    engines = tuple(replace(e, cycles=2 * e.cycles if e.cycles else e.cycles) for e in synthetic.failing().engines)
    after = replace(synthetic.failing(), engines=engines, identity=replace(before.identity, rtl_hash="99" * 32))
    found = diff(before, after)
    text = found.text()
    assert not found.same
    assert [c.what for c in found.identity if c.changed] == ["RTL"]
    assert "pass -> fail" in text
    assert found.commits == 1
    moved = {f.what: f.ratio for f in found.cycles if f.changed}
    assert moved == {"rtl cycles": 2.0}
    assert "errors, riscv-vs-vm" in text
    assert "matmul.7 error / bound" in text
    table = json.loads(found.json_text())
    assert table["same"] is False
    assert {c["what"]: c["after"] for c in table["comparisons"] if c["changed"]} == {"rtl-vs-iss": "fail", "riscv-vs-vm": "fail"}


def test_other_instructions_are_not_compared_by_digest() -> None:
    before = synthetic.passing()
    bits = before.comparison("rtl-vs-iss")
    assert bits is not None
    shorter = replace(bits, commits=bits.commits[:-1])
    after = replace(before, comparisons=tuple(shorter if c.name == "rtl-vs-iss" else c for c in before.comparisons))
    found = diff(before, after)
    assert found.commits is None
    assert not found.same
    assert "commits: not compared" in found.text()


def test_ratio_of_figures() -> None:
    assert Figure("x", 2.0, 3.0).ratio == 1.5
    assert Figure("x", 0.0, 0.0).ratio == 1.0
    assert Figure("x", 0.0, 1.0).ratio is None
    assert Figure("x", math.inf, 1.0).ratio is None
    assert not Figure("x", math.nan, math.nan).changed
    assert Figure("x", None, 1.0).changed


def test_diff_of_stored_runs(tmp_path: Path) -> None:
    synthetic.passing().save(tmp_path / "a")
    synthetic.failing().save(tmp_path / "b")
    assert diff(tmp_path / "a", tmp_path / "b").text() == diff(synthetic.passing(), synthetic.failing()).text()
