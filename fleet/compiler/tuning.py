"""The search for a schedule: compile a program with each, run it on a call's inputs, keep the best one.

What was chosen is kept between processes, for the program and the processor.
"""

from __future__ import annotations

import hashlib
import json
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from fleet.core.cache import cache_root
from fleet.core.files import write_atomically
from fleet.errors import FleetError
from fleet.targets.schedule import Schedule

if TYPE_CHECKING:
    from fleet.ir.program import Program

TUNED = ("cpu", "llvm-cpu")
"""Targets with schedules."""
_RUNS = 5
"""Runs of code whose time counts; the shortest is taken."""


@dataclass(frozen=True)
class TunedSchedule:
    """What a search found.

    Attributes:
        best: the schedule to compile with.
        costs: schedule -> seconds of a run; empty if an earlier process chose.
    """

    best: Schedule
    costs: Mapping[Schedule, float]


def choose(program: Program, schedules: Sequence[Schedule], cost: Callable[[Schedule], Callable[[], float]]) -> TunedSchedule:
    """Return the fastest schedule of a program; the first one if several take the same time.

    cost: compiles with a schedule, and returns what runs the code once and returns its seconds.
    """
    key = json.dumps([_processor(), program.hash, [repr(s) for s in schedules]])
    path = cache_root() / "schedules" / f"{hashlib.sha256(key.encode()).hexdigest()}.json"
    known = _kept(path, schedules)
    if known is not None:
        return TunedSchedule(known, {})
    costs: dict[Schedule, float] = {}
    for schedule in schedules:
        once = cost(schedule)
        costs[schedule] = min(once() for _ in range(_RUNS))
    best = min(costs, key=costs.__getitem__)
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        write_atomically(path, json.dumps(schedules.index(best)).encode())
    except (OSError, FleetError):  # the next process searches again
        pass
    return TunedSchedule(best, costs)


def _processor() -> str:
    import llvmlite.binding as llvm

    return str(llvm.get_host_cpu_name())


def _kept(path: Path, schedules: Sequence[Schedule]) -> Schedule | None:
    try:
        number = json.loads(path.read_text())
    except (OSError, ValueError):
        return None
    return schedules[number] if isinstance(number, int) and 0 <= number < len(schedules) else None


def seconds(run: Callable[[Mapping[str, np.ndarray]], object], inputs: Mapping[str, np.ndarray]) -> Callable[[], float]:
    """Return what runs once and measures the processor's time."""
    run(inputs)

    def once() -> float:
        start = time.perf_counter()
        run(inputs)
        return time.perf_counter() - start

    return once


def schedules_of(tune: bool | Sequence[Schedule], target: str) -> tuple[Schedule, ...]:
    """Return what to try. Raises FleetError for a target without schedules, and for what is no schedule."""
    from fleet.targets.schedule import SCHEDULES

    if tune is False:
        return ()
    if target not in TUNED:
        hint = f"targets with schedules are {', '.join(TUNED)}"
        raise FleetError(f"nothing can be tuned on target {target}", where="@jit", hint=hint)
    found = SCHEDULES if tune is True else tuple(tune)
    if not found or not all(isinstance(s, Schedule) for s in found):  # pyright: ignore[reportUnnecessaryIsInstance]
        raise FleetError("tune takes True or schedules", where="@jit", hint="tune=[Schedule(unroll=False), Schedule()]")
    return found
