"""How far a night is, from its records alone."""

from __future__ import annotations

import datetime
from pathlib import Path

from nights_made import at, failed, head, run, write

from fleet.night.status import status_of
from fleet.regress.night_records import Note, SessionPlan, StartOfTest, Writer, read_night

NOW = datetime.datetime.fromisoformat(at(0, 10))


def test_a_night_that_runs(tmp_path: Path) -> None:
    rows = [run(seed=0), failed(run(seed=1))]
    left = [run(seed=n).node for n in (2, 3, 4)]
    below = write(tmp_path, 0, rows, planned=left, end=False)
    worker = Writer(below, "two-w1")
    worker.write(StartOfTest(left[0], at(0, 8)))
    worker = Writer(below, "two-w2")
    worker.write(StartOfTest(left[1], at(0, 9)))
    main = Writer(below, "one-main")
    main.write(Note(at(0, 1), "dashboard", "http://here"))
    main.write(Note(at(0, 2), "interrupted", "x went away"))
    found = status_of(read_night(below), {left[0]: 200.0, left[1]: 50.0, left[2]: 300.0}, NOW)
    assert (found.finished, found.planned, found.failed, found.interrupted, found.over) == (2, 5, 1, 0, False)
    assert [(r.node, r.seconds, r.usual) for r in found.running] == [(left[0], 120.0, 200.0), (left[1], 60.0, 50.0)]
    assert found.processes == 3  # the one that wrote the first two is not old yet
    assert found.left == (200 + 50 + 300 - 120 - 50) / 3
    assert found.dashboard == "http://here"
    assert [n.text for n in found.notes] == ["x went away"]
    assert "2 of 5 ran, 1 failed, 2 run now, about 0:02:07 left on 3 processes" in found.headline


def test_a_start_whose_process_died_is_interrupted_and_not_running(tmp_path: Path) -> None:
    below = write(tmp_path, 0, [run(seed=0)], planned=[run(seed=1).node], end=False)
    dead = Writer(below, "two-w1")
    dead.write(StartOfTest(run(seed=1).node, at(0, 4)))
    again = Writer(below, "two-w2")
    again.write(StartOfTest(run(seed=1).node, at(0, 6)))
    found = status_of(read_night(below), {}, NOW)
    assert [r.seconds for r in found.running] == [240.0]
    assert found.interrupted == 1


def test_a_night_that_ended(tmp_path: Path) -> None:
    found = status_of(read_night(write(tmp_path, 0, [run()])), {}, NOW)
    assert found.over
    assert found.headline.endswith("1 of 1 ran, 0 failed, 0 run now, ended")


def test_the_last_plan_of_the_last_session_counts(tmp_path: Path) -> None:
    a, b, c = (run(seed=n).node for n in range(3))
    below = write(tmp_path, 0, [run(seed=0)], planned=[b, c], end=False)
    second = Writer(below, "one-main")
    second.write(head(0, at=at(0, 20)))
    second.write(SessionPlan({b: "case"}, {c: "no time"}))
    assert read_night(below).left_out == {c: "no time"}
    assert read_night(below).missing == (b,)
    second.write(SessionPlan({}, {b: "the budget's time was up"}))
    assert read_night(below).missing == ()
    third = Writer(below, "one-main")
    third.write(head(0, at=at(0, 30)))
    third.write(SessionPlan({b: "case", c: "case"}))
    found = read_night(below)
    assert found.missing == (b, c)
    assert not found.left_out
    assert a in found.planned
