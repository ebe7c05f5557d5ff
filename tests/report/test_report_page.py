"""The page of one run: well formed, complete, self-contained, deaf to hostile names, and small."""

from __future__ import annotations

import base64
import hashlib
import json
import math
import re
import xml.etree.ElementTree as ET
from dataclasses import replace
from pathlib import Path

import pytest
import synthetic_results as synthetic
from html_check import Page

from fleet.cosim.result import CosimResult
from fleet.errors import ModelError
from fleet.report.run.context import TABLE_ROWS
from fleet.report.run.junit import junit
from fleet.report.run.page import report_json, write_report

SECTIONS = {
    "verdict",
    "engines",
    "accuracy",
    "flips",
    "cycles",
    "bits",
    "host",
    "reproduce",
    "provenance",
    "not-compared",
}
KINDS = ["passing", "failing", "random_data", "empty", "hostile", "large"]


@pytest.fixture(scope="module", params=KINDS)
def page(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> tuple[str, Page, Path]:
    folder = tmp_path_factory.mktemp(request.param)
    files = write_report(getattr(synthetic, request.param)(), folder)
    return request.param, Page.read(files.html), folder


def test_page_is_well_formed_and_complete(page: tuple[str, Page, Path]) -> None:
    _, parsed, _ = page
    assert parsed.problems == []
    ids = parsed.ids()
    assert len(ids) == len(set(ids))
    assert set(ids) >= SECTIONS
    for target in [h for h in parsed.attributes("href") if h.startswith("#")]:
        assert target[1:] in ids


def test_page_asks_nothing_of_the_network_and_runs_nothing_but_its_own(page: tuple[str, Page, Path]) -> None:
    _, parsed, folder = page
    for name in ("href", "src", "xlink:href", "action", "data", "srcset"):
        for value in parsed.attributes(name):
            link = name == "href" and value.startswith("../")  # to the model's file: followed, never loaded
            assert link or value.startswith(("#", "data:")), (name, value)
    raw = (folder / "index.html").read_text()
    assert "url(http" not in raw
    assert "@import" not in raw
    assert not {tag for tag, _ in parsed.tags} & {"iframe", "object", "embed"}
    scripts = re.findall(r"<script>(.*?)</script>", raw, re.S)
    assert sum(tag == "script" for tag, _ in parsed.tags) == len(scripts) == 1
    digest = base64.b64encode(hashlib.sha256(scripts[0].encode()).digest()).decode()
    assert f"script-src 'sha256-{digest}'" in raw
    assert not [name for _, attrs in parsed.tags for name in attrs if name.startswith("on")]


def test_page_is_small_and_limits_long_tables(page: tuple[str, Page, Path]) -> None:
    kind, parsed, folder = page
    assert (folder / "index.html").stat().st_size < 3_000_000
    assert sum(tag == "tr" for tag, _ in parsed.tags) < 1200
    if kind == "large":
        assert f"{TABLE_ROWS} of 1,500 operations shown" in parsed.text
        assert f"{TABLE_ROWS} of 1,500 commits shown" in parsed.text
        stored = json.loads((folder / "report.json").read_text())
        assert len(stored["operations"]) == 1500


def test_verdict_comes_first(page: tuple[str, Page, Path]) -> None:
    kind, parsed, _ = page
    result: CosimResult = getattr(synthetic, kind)()
    main = parsed.text
    assert result.verdict in main[: main.index("Engines side by side", main.index("Provenance"))]
    for reason in result.reasons:
        assert " ".join(reason.split()) in main


def test_hostile_names_stay_text(tmp_path: Path) -> None:
    files = write_report(synthetic.hostile(), tmp_path, synthetic.hostile())
    raw = files.html.read_text()
    assert raw.count("<script>") == 1
    assert "<script>alert" not in raw
    assert "<script>" in Page(raw).text
    assert "<script>" not in files.summary.read_text().split("```sh")[0]
    assert ET.fromstring(files.junit.read_text()).get("failures") != "0"


def test_failing_run_shows_the_divergence_down_to_the_values(tmp_path: Path) -> None:
    result = synthetic.failing()
    parsed = Page.read(write_report(result, tmp_path).html)
    assert "divergence" in parsed.ids()
    assert result.divergence is not None
    for difference in result.divergence.differences:
        assert difference.expected in parsed.text
        assert difference.found in parsed.text
        assert f"{difference.address:#x}" in parsed.text
    for address, value in result.divergence.registers:
        assert f"write 0x{address:03x} = 0x{value:08x}" in parsed.text
    assert "deadbeef00c0ffee" in parsed.text
    assert "NameError in the subprocess" in parsed.text


def test_no_divergence_no_account_of_one(tmp_path: Path) -> None:
    assert "divergence" not in Page.read(write_report(synthetic.empty(), tmp_path).html).ids()


def test_random_data_raises_a_banner(tmp_path: Path) -> None:
    result = synthetic.random_data()
    text = Page.read(write_report(result, tmp_path).html).text
    assert result.data.banner is not None
    assert text.index(result.data.banner) < text.index("Engines side by side", text.index("Provenance"))
    assert result.data.banner in (tmp_path / "summary.md").read_text()


def test_flipped_samples_are_pictures(tmp_path: Path) -> None:
    result = synthetic.passing()
    parsed = Page.read(write_report(result, tmp_path).html)
    images = [attrs for tag, attrs in parsed.tags if tag == "img"]
    assert len(images) == 2 + 3  # iss and rtl flip the same samples: shown once
    assert all(str(a["src"]).startswith("data:image/png;base64,") and a["alt"] for a in images)
    assert "iss, rtl: 3 of 360 samples" in parsed.text
    assert "Bonett and Price" in parsed.text


def test_flips_without_a_picture_are_a_table(tmp_path: Path) -> None:
    good = synthetic.passing()
    rows = {name: array[:, :50] for name, array in good.arrays.items()}  # 50 is no square
    result = replace(good, arrays=rows, data=replace(good.data, image_shape=None))
    parsed = Page.read(write_report(result, tmp_path).html)
    assert not [tag for tag, _ in parsed.tags if tag == "img"]
    assert "Changed predictions of iss" in parsed.attributes("aria-label")


def test_changes_since_the_previous_run(tmp_path: Path) -> None:
    now = synthetic.passing()
    before = replace(now, identity=replace(now.identity, rtl_hash="99" * 32, memory="stall"))
    files = write_report(now, tmp_path, before)
    text = Page.read(files.html).text
    assert "9999999999999999…" in text
    assert "No difference in hashes" not in text
    moved = [c["what"] for c in json.loads(files.json.read_text())["changes"] if c["changed"]]
    assert moved == ["RTL", "memory model"]
    same = synthetic.empty()
    assert "No difference in hashes" in Page.read(write_report(same, tmp_path, same).html).text


def test_report_json_holds_the_whole_result() -> None:
    for result in (synthetic.passing(), synthetic.failing(), synthetic.empty()):
        table = json.loads(json.dumps(report_json(result), allow_nan=False))
        assert CosimResult.from_json(table["result"]) == result
        assert table["verdict"] == result.verdict
        for cost in table["operations"]:
            assert cost["cycles"] == sum(cost["classes"].values())


def test_junit_counts_failures() -> None:
    good = ET.fromstring(junit(synthetic.passing()))
    assert good.get("failures") == "0"
    result = synthetic.failing()
    bad = ET.fromstring(junit(result))
    failures = bad.findall(".//failure")
    assert len(failures) == int(str(bad.get("failures")))
    names = {(case.get("classname"), case.get("name")) for case in bad.iter("testcase") if case.find("failure") is not None}
    assert names >= {
        ("digits.rtl-vs-iss", "commit 1 mvm_bn_res"),
        ("digits.riscv-vs-vm", "matmul.7"),
        ("digits.engines", "cpython runs"),
        ("digits.run", "verdict"),
    }
    assert all(result.identity.command in str(f.text) for f in failures)
    assert int(str(bad.get("tests"))) == len(list(bad.iter("testcase")))


def test_nothing_compared_never_looks_like_a_pass(tmp_path: Path) -> None:
    files = write_report(synthetic.empty(), tmp_path)
    assert ET.fromstring(files.junit.read_text()).get("failures") != "0"
    assert "✔" not in files.summary.read_text()
    assert "pass" not in [a.get("class") for _, a in Page.read(files.html).tags]


def test_not_finite_figures_are_words(tmp_path: Path) -> None:
    good = synthetic.passing()
    comparison = good.comparison("iss-vs-vm-rounded")
    assert comparison is not None
    row = comparison.operations[0]
    assert row.bound is not None
    strange = replace(row.cumulative, max_abs=math.nan, max_rel=math.inf, ulp_max=math.inf, sqnr_db=-math.inf, cosine=math.nan)
    bound = replace(row.bound, worst_ratio=math.inf, ulp_median=math.inf, ulp_max=math.inf, bound_max=math.inf)
    comparison = replace(comparison, operations=(replace(row, cumulative=strange, bound=bound), *comparison.operations[1:]))
    files = write_report(replace(good, comparisons=(comparison,)), tmp_path)
    parsed = Page.read(files.html)
    assert parsed.problems == []
    assert "∞" in parsed.text
    assert json.loads(files.json.read_text(), parse_constant=pytest.fail)


def test_reads_what_a_run_stored(tmp_path: Path) -> None:
    result = replace(synthetic.passing(), comparisons=())
    result.save(tmp_path / "run")
    from_disk = write_report(tmp_path / "run", tmp_path / "a").html.read_text()
    assert from_disk == write_report(result, tmp_path / "b").html.read_text()


def test_missing_result_is_one_line(tmp_path: Path) -> None:
    with pytest.raises(ModelError, match="no result here"):
        write_report(tmp_path / "nothing", tmp_path / "out")
    assert not (tmp_path / "out").exists()
