"""The page of a stream: verdicts, classes of work, shares of the limit; nothing passes without runs."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

from fleet.compare.diverged import CommitRow
from fleet.report.regression.streams import StreamReport, StreamRun, class_rows, write_stream_report


def run(memory: str, verdict: str = "pass", reasons: tuple[str, ...] = ()) -> StreamRun:
    rows = tuple(
        CommitRow(
            i, name, (op,), "0f", "0f", 64, None, start, end, {"compute": end - start}, None, None, None, None, True, unit=unit
        )
        for i, (name, op, unit, start, end) in enumerate(
            [("norm", "norm1", "sfu", 0, 100), ("mvm_bn", "wq", "mvm", 60, 1000), ("mvm_bn", "wk", "mvm", 1000, 1100)]
        )
    )
    return StreamRun("aux", memory, verdict, reasons, rows, 1100, 1536, 0.5, {"hbm_read_bytes": 1024.0})


REPORT = StreamReport(
    "Two products", "A stream.", "python x.py", "hbm_small", 280.0, (run("ideal"), run("timed:0")),
    {"wq": "matrix products", "wk": "matrix products", "norm1": "functions"}, {"wq": 800.0, "wk": 80.0, "norm1": 10.0},
)  # fmt: skip


def test_classes_gather_their_operations() -> None:
    products, functions = class_rows(REPORT)
    assert (products.name, products.operations, products.bound, products.cycles) == (
        "matrix products",
        ("wq", "wk"),
        880.0,
        (1040, 1040),
    )
    assert (functions.bound, functions.cycles) == (10.0, (100, 100))


def test_a_failed_run_fails_the_page_and_is_named(tmp_path: Path) -> None:
    failed = replace(REPORT, runs=(run("ideal"), run("stall:1", "fail", ("commit 1: <digest> differs",))))
    text = write_stream_report(failed, tmp_path).read_text()
    assert failed.verdict == "fail"
    assert "commit 1: &lt;digest&gt; differs" in text
    assert "1 of 2 simulations agree" in text


def test_no_run_is_no_pass(tmp_path: Path) -> None:
    assert replace(REPORT, runs=()).verdict == "fail"


def test_the_page_and_its_json(tmp_path: Path) -> None:
    page = write_stream_report(REPORT, tmp_path / "new")
    text = page.read_text()
    assert REPORT.verdict == "pass"
    assert text.count("<svg") == 4
    assert "80.9 %" in text  # 890 of 1100
    table = json.loads(page.with_name("report.json").read_text())
    assert table["verdict"] == "pass"
    assert table["class_cycles"][0]["cycles"] == [1040, 1040]
