"""How LLVM may arrange loops: the choices that a search tries. None of them changes a bit of a result."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True)
class Schedule:
    """Choices for the code of one program.

    Attributes:
        vectorise: loops become vector instructions.
        unroll: loops repeat their body.
        interleave: vector loops process several vectors per iteration.
        level: LLVM's level of optimisation, 1 to 3.
    """

    vectorise: bool = True
    unroll: bool = True
    interleave: bool = True
    level: int = 3

    def options(self) -> Any:
        """Return llvmlite's tuning options."""
        import llvmlite.binding as llvm

        made = llvm.create_pipeline_tuning_options(speed_level=self.level)
        if self != USUAL:  # LLVM's own choice otherwise
            made.loop_vectorization = self.vectorise
            made.loop_unrolling = self.unroll
            made.loop_interleaving = self.interleave
        return made


USUAL = Schedule()
"""The default schedule, used unless a search found a better one."""

SCHEDULES: tuple[Schedule, ...] = (
    USUAL,
    Schedule(unroll=False),
    Schedule(interleave=False),
    Schedule(unroll=False, interleave=False),
    Schedule(vectorise=False),
    Schedule(level=1),
)
"""The schedules that `@jit(tune=True)` tries."""
