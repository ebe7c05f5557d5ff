"""Decide which worker runs what next, without clock or network: `fleet.night.cluster.engine` drives it, as do tests and
simulations.

A worker gets one task at a time, and only when it is free. So no task waits for a worker that leaves, and none moves from one
worker to another. Simulations are built first, each once; then the longest runs, by the times of the last night.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Literal

MOST_LOSSES = 5
"""Number of workers that a run loses before it is given up."""
MOST_FAILURES = 3
"""Number of different runs in a row that fail on a host before it is left out."""
_SPARE = 1.25
"""Factor by which a run may take longer than last night."""
_START_S = 10.0
"""Additional time of a run in seconds: a cold start."""


@dataclass(frozen=True)
class RunTask:
    """A test.

    node: pytest's id. kind: as planned. seconds: of the last night; None if unknown. builds: names of the simulations that it
    needs.
    """

    node: str
    kind: str
    seconds: float | None = None
    builds: tuple[str, ...] = ()


@dataclass(frozen=True)
class BuildTask:
    """A simulation to build. name: unique. node: a test that needs it and can build it."""

    name: str
    node: str


Task = RunTask | BuildTask


@dataclass
class WorkerState:
    """A worker.

    host: its machine. until: when it must have finished, in seconds of the driver's clock; None for no limit.
    task, since: its current task and the start of it. seconds: busy time of finished tasks.
    fresh: whether it has had no task yet; a fresh worker takes any run, because another worker would not live longer.
    leaving: whether it gets no more tasks.
    """

    name: str
    host: str
    until: float | None
    task: Task | None = None
    since: float = 0.0
    seconds: float = 0.0
    fresh: bool = True
    leaving: bool = False


@dataclass
class Dispatch:
    """The runs that are left, and the workers.

    Attributes:
        lifetime: time for which a fresh worker takes tasks, in seconds; None for no limit.
        waiting: runs without a worker. builds: name -> "waiting", "running", "done", or the error of a failed build.
        workers: by name. bad_hosts: host -> why it is left out.
        interrupted: number of starts without a result. given_up: node -> why it will not run.
    """

    lifetime: float | None = None
    waiting: list[RunTask] = field(default_factory=list[RunTask])
    builds: dict[str, str] = field(default_factory=dict[str, str])
    workers: dict[str, WorkerState] = field(default_factory=dict[str, WorkerState])
    bad_hosts: dict[str, str] = field(default_factory=dict[str, str])
    interrupted: int = 0
    given_up: dict[str, str] = field(default_factory=dict[str, str])
    _tasks: dict[str, BuildTask] = field(default_factory=dict[str, BuildTask])
    _lost: Counter[str] = field(default_factory=Counter[str])
    _died: Counter[str] = field(default_factory=Counter[str])
    _needs: dict[str, float] = field(default_factory=dict[str, float])
    _row: dict[str, list[str]] = field(default_factory=dict[str, list[str]])

    @classmethod
    def of(cls, runs: Iterable[RunTask], lifetime: float | None = None) -> Dispatch:
        """Return a dispatch of these runs. Runs of unknown time come first, because one of them may be the longest."""
        made = cls(lifetime)
        for run in sorted(runs, key=lambda r: (r.seconds is not None, -(r.seconds or 0.0))):
            need = made._need(run)
            if lifetime is not None and run.seconds is not None and need > lifetime:
                made.given_up[run.node] = f"took {run.seconds:,.0f} s last night, and a worker lives {lifetime:,.0f} s"
                continue
            made.waiting.append(run)
            for name in run.builds:
                made.builds.setdefault(name, "waiting")
                made._tasks.setdefault(name, BuildTask(name, run.node))
        return made

    @property
    def left(self) -> int:
        """Number of runs that wait or run."""
        return len(self.waiting) + sum(isinstance(w.task, RunTask) for w in self.workers.values())

    @property
    def useful(self) -> int:
        """Number of workers that would have something to do."""
        busy = sum(w.task is not None for w in self.workers.values())
        return busy + len(self.waiting)

    def join(self, name: str, host: str, until: float | None) -> WorkerState:
        """Add a worker. until: when it must have finished, in seconds of the driver's clock; None for no limit."""
        self.workers[name] = made = WorkerState(name, host, until, leaving=host in self.bad_hosts)
        return made

    def next(self, name: str, now: float) -> Task | Literal["wait", "leave"]:
        """Return the next task of a free worker, "wait" if there may be one later, or "leave" if no run fits into its lifetime."""
        worker = self.workers[name]
        if worker.leaving or worker.host in self.bad_hosts:
            worker.leaving = True
            return "leave"
        room = None if worker.until is None else worker.until - now
        for build, state in self.builds.items():
            if state == "waiting":
                self.builds[build] = "running"
                return self._begin(worker, self._tasks[build], now)
        later = any(state == "running" for state in self.builds.values())
        for at, run in enumerate(self.waiting):
            if any(self.builds[build] == "running" for build in run.builds):
                continue
            if room is None or worker.fresh or self._need(run) <= room:
                del self.waiting[at]
                return self._begin(worker, run, now)
        if later:
            return "wait"
        worker.leaving = True  # if a run of another worker comes back, a new worker takes it
        return "leave"

    def _begin(self, worker: WorkerState, task: Task, now: float) -> Task:
        worker.task, worker.since, worker.fresh = task, now, False
        return task

    def _need(self, run: RunTask) -> float:
        """Return how long a worker must still live to take this run, in seconds; 0 if the time of the run is unknown."""
        told = 0.0 if run.seconds is None else run.seconds * _SPARE + _START_S
        return max(told, self._needs.get(run.node, 0.0))

    def done(self, name: str, now: float, *, failed: bool = False) -> None:
        """Note that a worker finished its run. failed: it failed in a way that a bad machine can cause."""
        worker = self.workers[name]
        task = self._free(worker, now)
        row = self._row.setdefault(worker.host, [])
        if not failed or not isinstance(task, RunTask):
            row.clear()
            return
        if task.node not in row:
            row.append(task.node)
        others = {w.host for w in self.workers.values()} - {worker.host} - self.bad_hosts.keys()
        if len(row) >= MOST_FAILURES and others:
            self.bad_hosts[worker.host] = f"{len(row)} different runs failed there one after the other: {', '.join(row)}"

    def built(self, name: str, now: float, error: str | None) -> None:
        """Note that a worker finished its build. error: why it failed, or None."""
        task = self._free(self.workers[name], now)
        if isinstance(task, BuildTask):
            self.builds[task.name] = "done" if error is None else error

    def build_error(self, run: RunTask) -> str | None:
        """Return why a build that the run needs failed, or None."""
        return next((e for b in run.builds if (e := self.builds[b]) not in ("waiting", "running", "done")), None)

    def broken(self) -> list[tuple[RunTask, str]]:
        """Remove and return the waiting runs that need a failed build, with its error."""
        found = [(run, error) for run in self.waiting if (error := self.build_error(run)) is not None]
        gone = {run.node for run, _ in found}
        self.waiting = [run for run in self.waiting if run.node not in gone]
        return found

    def interrupt(self, name: str, now: float, *, died: bool = False) -> Task | None:
        """Note that a worker's task ended without a result; it waits again. Returns the task.

        died: whether the task's process died under a worker that lives.
        """
        worker = self.workers[name]
        took = now - worker.since
        task = self._free(worker, now)
        if isinstance(task, BuildTask):
            self.builds[task.name] = "waiting"
        if task is None:
            return None
        key = task.node if isinstance(task, RunTask) else task.name
        self._lost[key] += 1
        self._died[key] += died
        if isinstance(task, BuildTask):
            if self._lost[key] >= MOST_LOSSES:
                self.builds[key] = f"{self._lost[key]} workers were lost while they built {key}"
            return task
        self.interrupted += 1
        if self._lost[key] >= MOST_LOSSES:
            self.given_up[key] = f"{self._lost[key]} workers were lost while they ran it"
            return task
        if self.lifetime is not None:
            self._needs[key] = min(max(self._need(task), 2 * took), 0.9 * self.lifetime)
        self.waiting.append(task)
        self.waiting.sort(key=lambda r: (r.seconds is not None, -max(r.seconds or 0.0, self._needs.get(r.node, 0.0))))
        return task

    def leave(self, name: str, now: float) -> Task | None:
        """Remove a worker. Returns the task that it did not finish, which waits again, or None."""
        if name not in self.workers:
            return None
        lost = self.interrupt(name, now)
        del self.workers[name]
        return lost

    def died(self, node: str) -> int:
        """Return how often the process of a run died under a worker that lives."""
        return self._died[node]

    def _free(self, worker: WorkerState, now: float) -> Task | None:
        task, worker.task = worker.task, None
        if task is not None:
            worker.seconds += now - worker.since
        return task
