"""What a night runs that has no time for everything."""

from __future__ import annotations

from collections.abc import Mapping

from fleet.night.budget import Candidate, choose
from fleet.night.history import LastRun


def ran(night: int = 5, outcome: str = "passed", seconds: float = 10.0, content: str = "c", **parts: str) -> LastRun:
    return LastRun(night, outcome, seconds, content, parts)


def one(node: str, last: LastRun | None, group: str = "", identity: Mapping[str, str] | None = None) -> Candidate:
    return Candidate(node, group, last, identity or {})


def test_failures_then_changes_then_new_then_the_oldest_then_seeds() -> None:
    found = choose(
        [
            one("seed 1", ran(4), "g"),
            one("seed 0", ran(3), "g"),
            one("old", ran(1)),
            one("touched", ran(6, hardware="x"), identity={"hardware": "y"}),
            one("same", ran(6, hardware="x"), identity={"hardware": "x"}),
            one("failed", ran(6, "failed")),
            one("new", None),
            one("other test", ran(6, content="c"), identity={"": "d"}),
        ],
        1000,
        1,
    )
    assert found.nodes == ("failed", "other test", "touched", "new", "old", "seed 0", "same", "seed 1")
    assert not found.left_out
    assert found.seconds == 80  # the new one is taken to need what the others need


def test_what_does_not_fit_is_left_out_with_its_reason_and_shorter_ones_go_on() -> None:
    found = choose([one("a", ran(1, seconds=50)), one("b", ran(2, seconds=60)), one("c", ran(3, seconds=40))], 100, 1)
    assert found.nodes == ("a", "c")
    assert found.left_out == {"b": "not run longest; needs 60.0 s, 50.0 s were left"}


def test_workers_multiply_the_time_but_not_of_one_test() -> None:
    found = choose([one("a", ran(1, seconds=90)), one("b", ran(2, seconds=90)), one("c", ran(3, seconds=150))], 100, 2)
    assert found.nodes == ("a", "b")


def test_nothing_known_counts_ten_seconds() -> None:
    assert len(choose([one(str(n), None) for n in range(9)], 50, 1).nodes) == 5
