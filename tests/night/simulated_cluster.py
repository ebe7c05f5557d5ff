"""A simulated cluster under `fleet.night.cluster.dispatch`: time is a number. Nothing here is measured."""

from __future__ import annotations

import heapq
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from random import Random

from fleet.night.cluster.dispatch import BuildTask, Dispatch, RunTask


@dataclass(frozen=True)
class Costs:
    """Seconds. start: until a new worker is ready; serial: of the dispatcher a run, during which it gives nothing else.

    idle: between the end of a run and the next task of its worker, apart from `serial`; build: of a simulation.
    """

    start: float = 10.0
    serial: float = 0.01
    idle: float = 0.02
    build: float = 100.0


@dataclass
class Outcome:
    """What happened. ends, starts: by key; wall: from the first worker to the last result; busy: of runs that ended."""

    ends: Counter[str] = field(default_factory=Counter[str])
    starts: Counter[str] = field(default_factory=Counter[str])
    builds: Counter[str] = field(default_factory=Counter[str])
    wall: float = 0.0
    busy: float = 0.0
    cut: int = 0
    """Runs that a walltime ended."""


def simulate(
    runs: Sequence[RunTask], workers: int, costs: Costs = Costs(), *, walltime: float | None = None, margin: float = 60.0,
    took: Mapping[str, float] | None = None, killed: float = 0.0, seed: int = 0,
) -> tuple[Dispatch, Outcome]:  # fmt: skip
    """Runs a night. took: key -> seconds that it takes now, else as last night; killed: chance that a task loses its worker."""
    random = Random(seed)
    dispatch = Dispatch.of(runs, None if walltime is None else walltime - margin)
    outcome = Outcome()
    times = {r.node: r.seconds or 0.0 for r in runs} if took is None else took
    events: list[tuple[float, int, str, str]] = []
    count = alive = 0
    first: float | None = None
    free = 0.0  # when the dispatcher is
    hired: dict[str, float] = {}

    def later(at: float, what: str, worker: str) -> None:
        nonlocal count
        count += 1
        heapq.heappush(events, (at, count, what, worker))

    def hire(now: float) -> None:
        nonlocal alive
        while alive < min(workers, dispatch.useful):
            alive += 1
            later(now + costs.start, "ready", f"w{count}")

    hire(0.0)
    now = 0.0
    waiting: set[str] = set()
    while dispatch.left and events:
        now, _, what, worker = heapq.heappop(events)
        if what == "ready":
            first = now if first is None else first
            hired[worker] = now
            dispatch.join(worker, f"h{int(worker[1:]) % 7}", None if walltime is None else now + walltime - margin)
        elif what == "killed":
            dispatch.leave(worker, now)
            waiting.discard(worker)
            alive -= 1
        elif what == "done":
            task = dispatch.workers[worker].task
            if isinstance(task, BuildTask):
                outcome.builds[task.name] += 1
                dispatch.built(worker, now, None)
            elif task is not None:
                outcome.ends[task.node] += 1
                outcome.busy += times[task.node]
                outcome.wall = now - (first or 0.0)
                dispatch.done(worker, now)
        for name in [worker, *waiting] if worker in dispatch.workers else list(waiting):
            if dispatch.workers[name].task is not None:
                continue
            waiting.discard(name)
            match dispatch.next(name, now):
                case "wait":
                    waiting.add(name)
                case "leave":
                    dispatch.leave(name, now)
                    alive -= 1
                case task:
                    free = max(free, now) + costs.serial
                    needs = costs.build if isinstance(task, BuildTask) else times[task.node]
                    if isinstance(task, RunTask):
                        outcome.starts[task.node] += 1
                    end = free + costs.idle + needs
                    died = None if walltime is None else hired[name] + walltime
                    if random.random() < killed:
                        later(free + needs * random.random(), "killed", name)
                    elif died is not None and end > died:
                        outcome.cut += 1
                        later(died, "killed", name)
                    else:
                        later(end, "done", name)
        hire(now)
    return dispatch, outcome
