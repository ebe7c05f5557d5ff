"""The schedules that a search tries, and what LLVM is told of one."""

from __future__ import annotations

import os
from typing import Any

from fleet.ir.schedule import USUAL_SCHEDULE, Schedule


def tuning_options(schedule: Schedule) -> Any:
    """Return llvmlite's options for LLVM's own work on loops."""
    import llvmlite.binding as llvm

    made = llvm.create_pipeline_tuning_options(speed_level=schedule.level)
    if not (schedule.vectorise and schedule.unroll and schedule.interleave):  # LLVM's own choice otherwise
        made.loop_vectorization = schedule.vectorise
        made.loop_unrolling = schedule.unroll
        made.loop_interleaving = schedule.interleave
    return made


def searched(target: str) -> tuple[Schedule, ...]:
    """Return what `@jit(tune=True)` tries on a target of `fleet.compiler.tuning.TUNED`."""
    usual = USUAL_SCHEDULE
    match target:
        case "riscv":
            found = [usual.every(unroll=1), usual.every(unroll=8), usual.every(unroll=8, tile=(3, 7)), usual.every(tile=(8, 2))]
        case "opencl" | "cuda":
            found = [usual.every(unroll=1), usual.every(unroll=8), usual.every(tile=(32, 32)), usual.every(tile=(64, 64))]
        case _:
            found = [
                Schedule(unroll=False), Schedule(interleave=False), Schedule(unroll=False, interleave=False),
                Schedule(vectorise=False), Schedule(level=1), usual.every(tile=(4, 16)),
            ]  # fmt: skip
            threads = min(os.cpu_count() or 1, 8)
            found += [usual.every(parallel=threads)] if threads > 1 else []
    return (usual, *found)
