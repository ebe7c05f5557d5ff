"""Choose the tests of a night that has no time for all of them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from statistics import mean

from fleet.night.history import LastRun

UNKNOWN_S = 10.0
"""Seconds that a test is taken to need if no test has run before."""
_ORDER = ("failed last time", "its identity changed", "never ran", "not run longest", "another seed of a run")


@dataclass(frozen=True)
class Candidate:
    """A test.

    node: pytest's id. group: the run without its seed; "" for others. last: its last run, or None.
    identity: its current content: parts by name, or the hash of the whole under "". Parts that only a run can tell are absent.
    """

    node: str
    group: str
    last: LastRun | None
    identity: Mapping[str, str]

    @property
    def touched(self) -> tuple[str, ...]:
        """Names of the parts that changed since the last run."""
        if self.last is None or not self.last.content:
            return ()
        before = {**self.last.parts, "": self.last.content}
        return tuple(name for name, value in self.identity.items() if name in before and before[name] != value)


@dataclass(frozen=True)
class BudgetChoice:
    """The chosen tests.

    nodes: in the order in which to run them. left_out: node -> reason. seconds: expected time on one worker.
    """

    nodes: tuple[str, ...]
    left_out: Mapping[str, str]
    seconds: float


def choose(candidates: Sequence[Candidate], seconds: float, workers: int) -> BudgetChoice:
    """Choose the tests that fit into a budget of `seconds` on `workers` workers, by their last times.

    First come tests that failed last time, then those that the change touches, those that never ran, and those that did not run for
    longest. Of runs that differ only in their seed one counts, and the others come last. A test that does not fit is left out, and
    shorter ones after it may still fit.
    """
    known = [c.last.seconds for c in candidates if c.last is not None and c.last.outcome == "passed"]
    usual = mean(known) if known else UNKNOWN_S
    leader: dict[str, tuple[int, str]] = {}
    for c in candidates:
        if c.group:
            mine = (-1 if c.last is None else c.last.night, c.node)
            leader[c.group] = min(leader.get(c.group, mine), mine)

    def rank(c: Candidate) -> tuple[int, int, str]:
        if c.last is not None and c.last.outcome == "failed":
            return 0, c.last.night, c.node
        if c.group and leader[c.group][1] != c.node:
            return 4, -1 if c.last is None else c.last.night, c.node
        if c.touched:
            return 1, 0 if c.last is None else c.last.night, c.node
        return (2, 0, c.node) if c.last is None else (3, c.last.night, c.node)

    room, taken = seconds * workers, 0.0
    chosen: list[str] = []
    left_out: dict[str, str] = {}
    for c in sorted(candidates, key=rank):
        needs = usual if c.last is None else c.last.seconds
        if taken + needs <= room and needs <= seconds:
            taken += needs
            chosen.append(c.node)
        else:
            left_out[c.node] = f"{_ORDER[rank(c)[0]]}; needs {needs:,.1f} s, {max(0.0, room - taken):,.1f} s were left"
    return BudgetChoice(tuple(chosen), left_out, taken)
