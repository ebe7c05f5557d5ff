"""Where a page stands: the list of all reports, links up, the model's source and its scores."""

from __future__ import annotations

import hashlib
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
import synthetic_results as synthetic
from html_check import Page

from fleet.cosim.result import CosimResult
from fleet.report.frame.index import TOPICS, published
from fleet.report.frame.place import About, frame_of
from fleet.report.run.page import PREVIOUS, store_report, write_report
from fleet.report.run.scores import scores
from fleet.report.run.source_lines import anchors, sources


def quick() -> CosimResult:
    """A passing result without pictures."""
    return replace(synthetic.passing(), comparisons=(), engines=synthetic.passing().engines[:3])


def test_reports_are_listed_what_is_not_green_first(tmp_path: Path) -> None:
    reports = tmp_path / "reports"
    write_report(quick(), reports / "good")
    write_report(replace(quick(), verdict="fail"), reports / "deep" / "bad")
    hostile = replace(quick(), identity=synthetic.identity(case="<b>&\"'x"))
    write_report(hostile, reports / "hostile")
    (reports / "others.html").write_text('<meta name="fleet-page" content="no JSON">')
    (reports / "mine").mkdir()
    (reports / "mine" / "index.html").write_text("<p>a page of others")
    published(reports / "good" / "index.html")
    parsed = Page.read(reports / "index.html")
    assert parsed.problems == []
    links = [h for h in parsed.attributes("href") if h.endswith("/index.html")]
    assert links == ["deep/bad/index.html", "good/index.html", "hostile/index.html"]
    assert "<b>&\"'x" in parsed.text
    assert {p.stem for p in (reports / "help").iterdir()} == set(TOPICS)


def test_pages_of_the_documentation_are_made_once(tmp_path: Path) -> None:
    page = tmp_path / "reports" / "a" / "index.html"
    write_report(quick(), page.parent)
    help_page = tmp_path / "reports" / "help" / f"{TOPICS[0]}.html"
    text = help_page.read_text()
    help_page.write_text(f"kept {text}")
    published(page)
    assert help_page.read_text() == f"kept {text}"
    help_page.write_text("of another version")
    published(page)
    assert help_page.read_text() == text


def test_nothing_is_written_outside_of_reports(tmp_path: Path) -> None:
    write_report(quick(), tmp_path / "elsewhere")
    assert [p.name for p in tmp_path.iterdir()] == ["elsewhere"]
    assert not any(
        h.startswith("../") and h.endswith(".html") for h in Page.read(tmp_path / "elsewhere/index.html").attributes("href")
    )


@pytest.mark.parametrize(
    ("page", "up"),
    [
        ("reports/a/index.html", [("reports", "../index.html")]),
        ("reports/sim/runs/x/index.html", [("reports", "../../../index.html"), ("sim", "../../index.html")]),
        ("out/runs/x/index.html", [("out", "../../index.html")]),
        ("out/index.html", []),
        ("reports/index.html", []),
    ],
)
def test_links_up(tmp_path: Path, page: str, up: list[tuple[str, str]]) -> None:
    assert list(frame_of(tmp_path / page, About("run", "x")).up) == up


def test_the_replaced_page_is_kept(tmp_path: Path) -> None:
    store_report(quick(), tmp_path)
    assert not (tmp_path / PREVIOUS).exists()
    first = (tmp_path / "index.html").read_text()
    store_report(replace(quick(), verdict="fail"), tmp_path, quick())
    assert (tmp_path / PREVIOUS).read_text() == first
    assert PREVIOUS in Page.read(tmp_path / "index.html").attributes("href")


def test_the_source_is_shown_while_it_is_what_ran(tmp_path: Path) -> None:
    text = "".join(f"line {i}\n" for i in range(30))
    (tmp_path / "model.py").write_text(text)
    identity = synthetic.identity(model=f"{tmp_path / 'model.py'}:forward", source_hash=hashlib.sha256(text.encode()).hexdigest())
    result = replace(synthetic.passing(), identity=identity)
    (source,) = sources(result)
    assert {line.number: line.ops for line in source.lines if line.ops}[12] == ("matmul.0",)
    assert anchors(result)["model.py:12:9"] == "line-12"
    (tmp_path / "model.py").write_text(text + "\n")
    assert not sources(result)
    assert not anchors(result)


def test_scores_name_each_engine_s_class() -> None:
    result = synthetic.passing()
    task = next(t for t in result.tasks if t.engine == "rtl")
    index, golden, other = task.flips[0].index, task.flips[0].golden, task.flips[0].other
    rows = {"flipped/index": np.asarray([index]), "flipped/scores/vm": np.eye(20)[[3]], "flipped/scores/rtl": np.eye(20)[[17]]}
    (found,) = scores(replace(result, arrays=rows), 5)
    assert (found.index, len(found.classes)) == (index, 12)
    assert {title: best for title, _, best in found.rows} == {"vm": golden, "rtl": other}, (
        "what they predicted, whatever the scores say"
    )
    assert {3, 17} <= set(found.classes)
    assert scores(result, 5) == ()
