"""The timeline of units: lanes, shares, names, and the page that shows it."""

from __future__ import annotations

import re

from fleet.compare.diverged import CommitRow
from fleet.report.pictures.timeline import TimelineSpan, spans_of, timeline


def row(seq: int, unit: str, op: str, start: int | None, end: int | None) -> CommitRow:
    return CommitRow(seq, "mvm", (op,), "00", "00", 64, None, start, end, {}, None, None, None, None, True, unit=unit)


def test_spans_leave_out_what_has_no_clock() -> None:
    rows = [row(0, "mvm", "wq", 5, 105), row(1, "sfu", "norm", None, None), row(2, "", "wk", 105, 110)]
    assert spans_of(rows) == [TimelineSpan("mvm", "wq", 5, 5, 105), TimelineSpan("mvm", "wk", 105, 105, 110)]


def test_shares_are_those_of_the_whole_time() -> None:
    svg = timeline([TimelineSpan("mvm", "wq", 100, 100, 150), TimelineSpan("sfu", "norm", 120, 140, 200)])
    assert "mvm (50 %)" in svg
    assert "sfu (60 %)" in svg
    assert "2 instructions on 2 units over 100 cycles" in svg


def test_only_names_with_room_are_written() -> None:
    svg = timeline([TimelineSpan("mvm", "long_layer", 0, 0, 9_000), TimelineSpan("sfu", "short", 9_000, 9_000, 9_010)])
    texts = re.findall(r">([^<>]+)</text>", svg)
    assert "long_layer" in texts
    assert "short" not in texts


def test_a_single_empty_span_draws() -> None:
    assert timeline([TimelineSpan("mvm", "x", 7, 7, 7)]).startswith("<svg")


def test_an_instruction_behind_another_is_an_outline_until_that_commits() -> None:
    rows = [row(0, "mvm", "wq", 0, 100), row(1, "sfu", "rope", 40, 130), row(2, "mvm", "wk", 101, 120)]
    assert [span.oldest for span in spans_of(rows)] == [0, 100, 120]
