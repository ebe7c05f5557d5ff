"""The progress of a night."""

from __future__ import annotations

import datetime
from collections.abc import Mapping
from dataclasses import dataclass
from statistics import mean

from fleet.regress.night_records import Note, Reading

_FRESH_S = 600.0
"""Seconds without start or end of a test after which a process that runs none does not count for the remaining time."""


@dataclass(frozen=True)
class Running:
    """A running test. process: file of its records. seconds: since its start. usual: duration of its last run; None if unknown."""

    node: str
    process: str
    seconds: float
    usual: float | None


@dataclass(frozen=True)
class NightStatus:
    """The state of a night.

    Attributes:
        id: of the night. over: whether its session has ended. finished, planned, failed: numbers of tests.
        interrupted: number of starts without a result, apart from tests that run now.
        running: running tests, the longest first. processes: number of processes at work.
        left: expected seconds until the end, by the last times; None if no time is known.
        dashboard: address of Dask's own page, or None. notes: events of workers and nodes, oldest first.
    """

    id: str
    over: bool
    finished: int
    planned: int
    failed: int
    interrupted: int
    running: tuple[Running, ...]
    processes: int
    left: float | None
    dashboard: str | None
    notes: tuple[Note, ...]

    @property
    def headline(self) -> str:
        """The state in one line."""
        parts = [f"{self.finished:,} of {self.planned:,} ran", f"{self.failed:,} failed", f"{len(self.running):,} run now"]
        parts += [f"{self.interrupted:,} starts were interrupted"] if self.interrupted else []
        if self.over:
            parts.append("ended")
        elif self.left is not None:
            parts.append(f"about {datetime.timedelta(seconds=round(self.left))} left on {self.processes:,} processes")
        return f"night {self.id}: {', '.join(parts)}"


def status_of(reading: Reading, times: Mapping[str, float], now: datetime.datetime) -> NightStatus:
    """Return the state of a night at `now`. times: node -> seconds of its last run."""
    running = tuple(
        Running(node, process, max(0.0, (now - datetime.datetime.fromisoformat(since)).total_seconds()), times.get(node))
        for node, (process, since) in reading.running.items()
    )
    at_work = {r.process for r in running} | {
        name for name, (busy, _, last) in reading.processes.items()
        if busy and (now - datetime.datetime.fromisoformat(last)).total_seconds() < _FRESH_S
    }  # fmt: skip
    took = [r.seconds for r in reading.records if r.outcome == "passed"]
    usual = mean(took) if took else None
    known = [times.get(node, usual) for node in reading.missing]
    left: float | None = None
    if at_work and None not in known:
        done = sum(min(r.seconds, r.usual or 0.0) for r in running)
        left = max(0.0, sum(s for s in known if s is not None) - done) / len(at_work)
    notes = [n for n in reading.notes if n.kind != "dashboard"]
    board = [n.text for n in reading.notes if n.kind == "dashboard"]
    return NightStatus(
        reading.id, reading.ended, len(reading.records), len(reading.planned), sum(r.failed for r in reading.records),
        reading.interrupted - len(running), tuple(sorted(running, key=lambda r: -r.seconds)), len(at_work), left,
        board[-1] if board and not reading.ended else None, tuple(notes),
    )  # fmt: skip
