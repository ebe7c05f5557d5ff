"""Figures that pages, summary and JUnit show are those of the result, and shares are what their names say."""

from __future__ import annotations

import xml.etree.ElementTree as ET
from dataclasses import replace

import numpy as np
import pytest
import synthetic_results as made

from fleet.compare.verdict import Flip
from fleet.cosim.result import CosimResult
from fleet.report.run.headline import GOLDEN, headline
from fleet.report.run.junit import junit
from fleet.report.run.performance import OperationCost, Traffic
from fleet.report.run.scores import scores


@pytest.mark.parametrize("result", [made.passing(), made.failing()], ids=["passing", "failing"])
def test_the_figures_are_those_of_the_result(result: CosimResult) -> None:
    rows = headline(result)
    assert [row.engine for row in rows] == [e.name for e in result.engines if e.status != "not asked"]
    assert any(row.lost for row in rows)
    for row, engine in zip(rows, (e for e in result.engines if e.status != "not asked"), strict=True):
        assert (row.cycles, row.elapsed_s, row.status) == (engine.cycles, engine.elapsed_s, engine.status)
        task = next((t for t in result.tasks if t.engine == row.engine), None)
        if task is not None:
            assert (row.accuracy, row.low, row.high, row.agreement) == (task.value, task.low, task.high, task.agreement)
            lost = (None, None, None) if row.engine == GOLDEN else (task.lost, task.lost_low, task.lost_high)
            assert (row.lost, row.lost_low, row.lost_high) == lost
        held = [
            {op.op: op.held.worst_ratio for op in c.operations if op.held is not None}
            for c in result.comparisons if c.other == row.engine and c.kind == "bound"
        ]  # fmt: skip
        if held and held[0]:
            assert (row.ratio, row.ratio_op) == (max(held[0].values()), max(held[0], key=lambda op: held[0][op]))


def test_commits_that_differ_are_not_counted_as_equal() -> None:
    result = made.passing()
    bits = next(c for c in result.comparisons if c.kind == "bits")
    commits = (*(replace(row, equal=False) for row in bits.commits[:2]), *bits.commits[2:])
    broken = replace(result, comparisons=tuple(replace(c, commits=commits) if c is bits else c for c in result.comparisons))
    row = next(row for row in headline(broken) if row.engine == bits.other)
    assert row.check.startswith(f"{len(commits) - 2} of {len(commits)} commits = ")


def test_the_class_of_a_flipped_sample_is_each_engines_own() -> None:
    result = made.passing()
    golden = next(t for t in result.tasks if t.engine == GOLDEN)
    other = next(t for t in result.tasks if t.engine != GOLDEN)
    tasks = (replace(golden, flips=()), replace(other, flips=(Flip(7, 1, 1, 2),)))
    arrays = {"flipped/index": np.array([7]), f"flipped/scores/{GOLDEN}": np.array([[0.0, 3.0, 2.0]])}
    arrays |= {f"flipped/scores/{other.engine}": np.array([[0.0, 2.5, 2.5]])}  # its own argmax would be 1
    (found,) = scores(replace(result, tasks=tasks, arrays=arrays), 5)
    assert (found.index, found.label, found.classes) == (7, 1, (0, 1, 2))
    assert [predicted for _, _, predicted in found.rows] == [1, 2]


def test_shares_of_the_array_and_of_a_memory() -> None:
    cost = OperationCost("y", ("y",), ("mvm",), 1, 100, {"compute": 100}, 1200, 2000, None, {}, 40.0)
    assert (cost.useful, cost.padding, cost.idle) == (0.3, 0.2, 0.5)
    traffic = Traffic("HBM, read", "hbm_read_bytes", 3000.0, 2000.0, 100, 60.0)
    assert (traffic.over, traffic.bandwidth_used) == (1.5, 0.5)


@pytest.mark.parametrize("verdict", ["fail", "not proved"])
def test_junit_fails_what_did_not_pass(verdict: str) -> None:
    result = made.passing()
    bound = next(c for c in result.comparisons if c.kind == "bound")
    bad = replace(bound.operations[3], verdict=verdict, reason="why")
    operations = tuple(bad if row.op == bad.op else row for row in bound.operations)
    comparisons = tuple(replace(c, operations=operations) if c is bound else c for c in result.comparisons)
    engines = (*result.engines[:-1], replace(result.engines[-1], status="failed", error="no tool"))
    root = ET.fromstring(junit(replace(result, comparisons=comparisons, engines=engines)))
    failed = {str(case.get("name")): case[0].get("message") for case in root.iter("testcase") if case.find("failure") is not None}
    assert failed == {bad.op: "why", f"{result.engines[-1].name} runs": "no tool"}
    assert root.get("failures") == "2"
