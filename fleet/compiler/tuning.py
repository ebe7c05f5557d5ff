"""The search for a schedule: compile a program with each, run it on a call's inputs, keep the best one.

What was chosen is kept between processes, for the program and the processor.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from fleet.core.cache import cache_root
from fleet.core.files import write_atomically
from fleet.errors import FleetError
from fleet.ir.schedule import Schedule
from fleet.targets.schedule import searched

if TYPE_CHECKING:
    from fleet.ir.program import Program

TUNED = ("cpu", "llvm-cpu", "riscv", "opencl", "cuda")
"""Targets for which schedules are tried."""
_RUNS = 5
"""Runs of code whose time counts; the shortest is taken."""


@dataclass(frozen=True)
class TunedSchedule:
    """What a search found.

    Attributes:
        best: the schedule to compile with.
        costs: schedule -> cost of a run, seconds or (on riscv) instructions; empty if an earlier process chose.
    """

    best: Schedule
    costs: Mapping[Schedule, float]


def choose(
    program: Program, target: str, schedules: Sequence[Schedule], cost: Callable[[Schedule], Callable[[], float]]
) -> TunedSchedule:
    """Return the cheapest schedule of a program on a target; the first one if several cost the same.

    cost: compiles with a schedule, and returns what runs the code once and returns its cost.
    """
    key = json.dumps([_processor(), target, program.hash, [repr(s) for s in schedules]])
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


def schedules_of(tune: bool | Sequence[Schedule], target: str) -> tuple[Schedule, ...]:
    """Return what to try. Raises FleetError for a target without schedules, and for what is no schedule."""
    if tune is False:
        return ()
    if target not in TUNED:
        hint = f"targets with schedules are {', '.join(TUNED)}"
        raise FleetError(f"nothing can be tuned on target {target}", where="@jit", hint=hint)
    found = searched(target) if tune is True else tuple(tune)
    if not found or not all(isinstance(s, Schedule) for s in found):  # pyright: ignore[reportUnnecessaryIsInstance]
        raise FleetError("tune takes True or schedules", where="@jit", hint="tune=[Schedule(unroll=False), Schedule()]")
    return found
