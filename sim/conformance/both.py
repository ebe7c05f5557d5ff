"""Two builds of a design on the same cases: every commit with its cycles, all traffic, every byte."""

from __future__ import annotations

from collections.abc import Sequence

from fleet.streams.case import StreamOutcome
from fleet.streams.run import StreamRunner
from fleet.verify.conformance.drawn import run_drawn
from fleet.verify.conformance.settings import settings


def played(outcome: StreamOutcome) -> object:
    """What two builds must have in common."""
    return outcome.passed, outcome.reasons, list(outcome.found), outcome.cycles, dict(outcome.traffic)


def run_alike(device: str, cases: Sequence[str], one: StreamRunner, other: StreamRunner) -> int:
    """Run the cases on both, on the memories of the suite; return the number of commits. Asserts that they pass and are alike."""
    commits = 0
    for number, name in enumerate(cases):
        chosen = settings(device, number, every=number % 4 == 0)
        found = [run_drawn(runner, name, chosen).outcomes for runner in (one, other)]
        assert [played(o) for o in found[0]] == [played(o) for o in found[1]], name
        assert all(o.passed for o in found[1]), name
        commits += sum(len(o.found) for o in found[1])
    return commits
