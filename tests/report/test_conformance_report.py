"""The cost model's part of the conformance report: what its gates are taken over."""

from __future__ import annotations

from pathlib import Path

from fleet.report.regression.conformance import gate, single_runs, write_conformance
from fleet.verify.conformance.coverage import ConformanceCoverage, CostPoint, MeanPoint


def _ideal(cost: int, cycles: int = 1000) -> CostPoint:
    return CostPoint("chip", "add", "ideal", cost, cycles)


def _mean(cost: int, cycles: tuple[int, ...], port_slack: float = 200.0) -> MeanPoint:
    return MeanPoint("chip", "add", "chip/add/random/0", cost, cycles, 200.0, port_slack)


def test_ideal_memory_is_judged_by_the_run() -> None:
    found = gate(ConformanceCoverage(costs=tuple(_ideal(1000 + 10 * (i % 3)) for i in range(90))), "ideal")
    assert found is not None
    assert (found.points, round(found.median, 9), found.passed) == (90, 0.01, True)
    off = gate(ConformanceCoverage(costs=tuple(_ideal(1060 if i < 6 else 1000) for i in range(100))), "ideal")
    assert off is not None
    assert not off.passed, "6 % of the calls are 6 % off"


def test_timed_memory_is_judged_by_the_mean() -> None:
    """Runs of 900 and 1,100 cycles are 10 % off, their mean is not."""
    found = gate(ConformanceCoverage(means=(_mean(1000, (900, 1100)),)), "timed")
    assert found is not None
    assert (found.points, found.median, found.runs, found.outside) == (1, 0.0, 2, 0)
    assert found.passed
    assert found.runs_passed
    off = gate(ConformanceCoverage(means=(_mean(1090, (900, 1100)),)), "timed")
    assert off is not None
    assert not off.passed
    assert off.runs_passed


def test_a_single_run_has_its_bound() -> None:
    strict = gate(ConformanceCoverage(means=(_mean(1000, (780, 1220)),)), "timed")
    assert strict is not None
    assert (strict.outside, strict.beyond, strict.passed, strict.runs_passed) == (2, 2, True, False)
    adding_up = gate(ConformanceCoverage(means=(_mean(1000, (780, 1220), 800.0),)), "timed")
    assert adding_up is not None
    assert (adding_up.outside, adding_up.beyond, adding_up.runs_passed) == (2, 0, True)
    long = gate(ConformanceCoverage(means=(_mean(10_000, (9_600, 10_400)),)), "timed")
    assert long is not None
    assert long.outside == 0, "5 % is more than the slack"


def test_runs_without_means_hold_no_gate_of_means() -> None:
    one = CostPoint("chip", "add", "timed", 100, 100, 200.0, 200.0)
    found = gate(ConformanceCoverage(costs=(one,)), "timed")
    assert found is not None
    assert found.points == 0
    assert not found.passed
    assert gate(ConformanceCoverage(costs=(one,)), "ideal") is None
    assert single_runs(ConformanceCoverage(costs=(one,)), "timed") == [one]


def test_the_report_says_where_refreshes_add_up(tmp_path: Path) -> None:
    a = ConformanceCoverage(
        costs=(_ideal(1000), CostPoint("chip", "add", "timed", 1000, 1300, 200.0, 800.0)),
        means=(_mean(1000, (780, 1220), 800.0), _mean(2000, (1980, 2020), 800.0)),
    )
    page = write_conformance(a, tmp_path).read_text(encoding="utf-8")
    text = (tmp_path / "README.md").read_text(encoding="utf-8")
    row = "| timed | add | 2 | 0.0 % | 3.0 % | 0.0 % | 8.0 % | holds | 5 | 3 | 0 | holds |"
    assert row in text
    assert "there 3 of 5 runs are outside one refresh a memory, 60.0%, and the bound is one refresh and one row miss a port" in text
    assert "(at least 800 cycles)" in text
    assert page.count("<svg") == 2
    assert "2 means over refresh phases" in page
    assert "a single run" in page
    again = ConformanceCoverage.load(tmp_path / "account.json")
    assert again == a
