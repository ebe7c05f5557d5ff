"""What the page says in words: what was proved, what was not compared and why, where operations ran, what moved."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import synthetic_results as synthetic
from html_check import Page

from fleet.compare.measured import OperationRow
from fleet.compare.verdict import Comparison, NotCompared
from fleet.compare.ways import Ways
from fleet.cosim.result import CosimResult
from fleet.report.run.accuracy import causes
from fleet.report.run.diff import diff
from fleet.report.run.gaps import fused_into, gaps
from fleet.report.run.page import write_report
from fleet.report.run.proved import proved


def with_comparison(result: CosimResult, name: str, **changes: object) -> CosimResult:
    made = tuple(replace(c, **changes) if c.name == name else c for c in result.comparisons)  # type: ignore[arg-type]
    return replace(result, comparisons=made)


def fused(result: CosimResult) -> CosimResult:
    """The accelerator states its groups, as the engines do."""
    groups = [
        {"ops": ["matmul.0", "add.1", "h1"], "results": ["h1"]},
        {"ops": ["matmul.7", "logits", "argmax.9"], "results": ["logits", "argmax.9"]},
    ]
    everywhere = {op: "device" for op, *_ in synthetic.OPS}
    engines = tuple(
        replace(e, placement=everywhere, meta={"groups": groups}) if e.name in {"iss", "rtl"} else e for e in result.engines
    )
    return replace(result, engines=engines)


def exact(row: OperationRow) -> OperationRow:
    return replace(row, cumulative=synthetic.errors(np.random.default_rng(0), row.cumulative.elements, 0.0, np.inf))


def test_one_line_a_reason_with_its_operations_named_together() -> None:
    why = "kept no value of it"
    missing = tuple(NotCompared(f"op.{i}", why) for i in range(9))
    result = with_comparison(synthetic.passing(), "iss-vs-vm", not_compared=missing)
    result = with_comparison(result, "iss-vs-vm-rounded", not_compared=missing)
    found = gaps(result)
    assert [g.why for g in found] == ["engine cpython was not asked for", why]
    assert found[1].comparisons == ("iss against vm-rounded (weights as stored)", "iss against vm")
    assert found[1].things == tuple(n.what for n in missing)
    assert found[1].names == "op.0, op.1, op.2, op.3, op.4, ... (9)"
    # A stored result that says everything a second time, for the run, is shown once.
    assert gaps(replace(result, not_compared=(*result.not_compared, *missing))) == found


def test_the_page_holds_the_full_list(tmp_path: Path) -> None:
    missing = tuple(NotCompared(f"hidden.{i}", "no value") for i in range(40))
    result = with_comparison(synthetic.passing(), "iss-vs-vm", not_compared=missing)
    text = Page.read(write_report(result, tmp_path).html).text
    assert "hidden.4, ... (40): no value" in text
    assert all(n.what in text for n in missing)


def test_the_banner_says_what_was_proved() -> None:
    good = synthetic.passing()
    riscv = good.comparison("riscv-vs-vm")
    assert riscv is not None
    rows = tuple(replace(r, cumulative=replace(r.cumulative, mismatches=3)) for r in riscv.operations)
    said = proved(with_comparison(good, "riscv-vs-vm", operations=rows))
    assert proved(good)[2] == "riscv = vm in all 100,000 elements."  # none differs there
    assert said[0] == "rtl = iss in every bit: 3 commits, 138,240 bytes."
    assert said[1].startswith("iss within the derived bound of the golden with rounded weights (worst 0.8 of it, at argmax.9)")
    assert said[2].startswith("riscv = vm in all 360 classes and within the derived bound (worst 0.8 of it")
    assert said[3].startswith("The device costs 0.56 points of accuracy [")
    assert len(said) == 4


def test_the_banner_never_says_more_than_holds() -> None:
    failing = synthetic.failing()
    said = " ".join(proved(failing))
    assert "every bit" not in said
    assert "riscv" not in said
    assert "iss within" in said
    arithmetic = with_comparison(synthetic.passing(), "iss-vs-vm-rounded", verdict="fail", reasons=("h1: beyond",))
    assert not any("costs" in s or "iss within" in s for s in proved(arithmetic))
    assert not any("accuracy" in s for s in proved(synthetic.random_data()))
    assert proved(synthetic.empty()) == ()
    flipped = synthetic.passing()
    task = flipped.task("iss")
    riscv = flipped.task("riscv")
    assert task is not None
    assert riscv is not None
    tasks = tuple(replace(t, flips=task.flips) if t is riscv else t for t in flipped.tasks)
    assert "classes" not in " ".join(proved(replace(flipped, tasks=tasks)))


def test_waivers_and_missing_bounds_stand_beside_the_claim() -> None:
    result = synthetic.passing()
    riscv = result.comparison("riscv-vs-vm")
    assert riscv is not None
    first = riscv.operations[0]
    assert first.bound is not None
    rows = (replace(first, waiver="me: known", ways=Ways(equal=9, own=7)), *riscv.operations[1:])
    said = " ".join(proved(with_comparison(result, "riscv-vs-vm", operations=rows)))
    assert "(held: 9 equal, 7 on their own operands; 1 operations by waiver)" in said


def test_fused_operations_have_the_accelerators_place(tmp_path: Path) -> None:
    result = fused(synthetic.passing())
    assert fused_into(result.engine("iss")) == {"matmul.0": "h1", "add.1": "h1", "matmul.7": "logits"}
    assert fused_into(result.engine("vm")) == {}
    assert fused_into(None) == {}
    _, rows = causes(result)
    places = {row.op: row.place for row in rows}
    assert places["matmul.0"] == "device, fused into h1"
    assert places["h1"] == places["logits"] == "device"
    text = Page.read(write_report(result, tmp_path).html).text
    assert "device, fused into h1" in text
    assert "Nothing: on iss, rtl all 10 operations ran on the device." in text


def test_no_accelerator_no_host_part(tmp_path: Path) -> None:
    text = Page.read(write_report(synthetic.empty(), tmp_path).html).text
    assert "No engine of this run uses an accelerator" in text


def test_no_difference_no_histogram(tmp_path: Path) -> None:
    result = synthetic.passing()
    iss = result.comparison("iss-vs-vm-rounded")
    assert iss is not None
    same = tuple(exact(row) for row in iss.operations)
    before = Page.read(write_report(result, tmp_path / "a").html)
    after = Page.read(write_report(with_comparison(result, "iss-vs-vm-rounded", operations=same), tmp_path / "b").html)
    floats = sum(r.cumulative.elements for r in same if r.reference_dtype == "float32")
    assert f"iss and vm-rounded (weights as stored) are identical: no float of {floats:,} differs." in after.text
    assert "iss and vm-rounded (weights as stored) are identical" not in before.text
    assert len([1 for tag, _ in after.tags if tag == "svg"]) == len([1 for tag, _ in before.tags if tag == "svg"]) - 1


def test_the_page_names_the_run_before_and_what_moved(tmp_path: Path) -> None:
    now = synthetic.passing()
    text = Page.read(write_report(now, tmp_path, now).html).text
    assert "Compared with digits of 2025-01-02 03:04:05 UTC" in text
    assert "No difference in hashes" in text
    assert "No figure moved" in text
    slower = tuple(replace(e, cycles=2 * (e.cycles or 0)) if e.name == "rtl" else e for e in now.engines)
    text = Page.read(write_report(replace(now, engines=slower), tmp_path, now).html).text
    assert "rtl cycles" in text
    assert "Figures moved though nothing that identifies a run did." in text


def test_difference_fits_the_terminal() -> None:
    now = synthetic.passing()
    long = "encoder.layer.11.attention.self.query.projection.with.a.long.name"
    rows = tuple(replace(r, op=f"{long}.{i}") for i, r in enumerate(synthetic.rows(np.random.default_rng(0), "bound", 1e-3, 60.0)))
    one = Comparison("iss-vs-vm", "info", "vm", "iss", "", "pass", (), 1, 0, rows)
    other = replace(
        one, operations=tuple(replace(r, cumulative=replace(r.cumulative, max_abs=2 * r.cumulative.max_abs)) for r in rows)
    )
    found = diff(replace(now, comparisons=(one,)), replace(now, comparisons=(other,)))
    for width in (80, 120):
        lines = found.text(width).splitlines()
        assert max(map(len, lines)) <= width
        assert sum("x2" in line for line in lines) == len(rows)
    assert long in found.text(200)


def test_what_reads_the_same_is_counted_not_listed() -> None:
    now = synthetic.passing()
    rtl = tuple(replace(c, operations=tuple(replace(r, cumulative=replace(r.cumulative, max_abs=1.0000001)) for r in c.operations))
                if c.name == "iss-vs-vm" else c for c in now.comparisons)  # fmt: skip
    base = tuple(replace(c, operations=tuple(replace(r, cumulative=replace(r.cumulative, max_abs=1.0000002)) for r in c.operations))
                 if c.name == "iss-vs-vm" else c for c in now.comparisons)  # fmt: skip
    text = diff(replace(now, comparisons=base), replace(now, comparisons=rtl)).text()
    assert f"{len(synthetic.OPS)} differ in digits that are not shown here" in text
    assert "1 -> 1" not in text.replace("  ", " ")
