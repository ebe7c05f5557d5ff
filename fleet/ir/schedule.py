"""How kernels run: what who writes a program chooses, or a search.

No choice for loops changes a bit of a result; what computes matrix products on a GPU may.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Literal, TypeAlias, TypedDict, Unpack, get_args

from fleet.errors import FleetError

MatmulChoice: TypeAlias = Literal["exact", "tensor-cores", "bfloat16", "cublas"]
"""What computes matrix products on a CUDA device.

- "exact": kernels whose sums run in ascending order, equal to riscv's in every bit.
- "tensor-cores": of float16 arrays tensor cores, with exact products and sums in float32, whose order is the hardware's; other
  products are exact.
- "bfloat16": of float32 arrays tensor cores, too: their elements are rounded to bfloat16 before, to 8 bits instead of 24.
- "cublas": NVIDIA's library, with sums in the precision of the result, of float16 in float32.
"""
MATMULS: tuple[MatmulChoice, ...] = get_args(MatmulChoice)


def check_matmul(choice: str, target: str, where: str) -> None:
    """Raise FleetError for an unknown choice, or for one that the target does not have; "cuda" and "gpu" have all."""
    if choice not in MATMULS:
        raise FleetError(f"matmul is {choice!r}", where=where, hint=f"choose among {', '.join(MATMULS)}")
    if choice != "exact" and target not in ("cuda", "gpu"):
        raise FleetError(f"matmul={choice} is a choice of target cuda; this is {target}", where=where, hint="leave out matmul")


_MOST = 64
"""Steps between two branches, elements of a step, threads."""


@dataclass(frozen=True)
class LoopSchedule:
    """The loops of one kernel. What is None or empty is the target's own choice.

    Raises FleetError if a field is no such choice.

    Attributes:
        order: axes over which the loops run, from the outermost to the innermost. In a kernel with reductions these are the axes of
            its rows; the elements of a row keep their order.
        tile: sizes of a tile by axis, 0 for the whole axis: loops over tiles, then loops inside one, both in `order`. Of a product:
            rows and columns of the result that are computed at a time.
        unroll: steps of the innermost loop between two branches; on a GPU elements of a work item.
        vectorise: elements of a step, a power of two, where the operands' elements are neighbours.
        parallel: threads.
    """

    order: tuple[int, ...] = ()
    tile: tuple[int, ...] = ()
    unroll: int | None = None
    vectorise: int | None = None
    parallel: int | None = None

    def __post_init__(self) -> None:
        for name in ("unroll", "vectorise", "parallel"):
            value = getattr(self, name)
            if value is not None and not (_is_count(value) and 1 <= value <= _MOST):
                raise _wrong(f"{name} is {value!r}", f"a number from 1 to {_MOST}")
        if self.vectorise is not None and self.vectorise & (self.vectorise - 1):
            raise _wrong(f"vectorise is {self.vectorise}", "a power of two")
        if not all(map(_is_count, self.tile)):
            raise _wrong(f"tile is {self.tile!r}", "a size for each axis, 0 for the whole axis")
        if not all(map(_is_count, self.order)) or len(set(self.order)) < len(self.order):
            raise _wrong(f"order is {self.order!r}", "numbers of axes, each once")


def _is_count(value: object) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and value >= 0


def _wrong(what: str, expected: str) -> FleetError:
    return FleetError(f"{what}; expected {expected}", where="Schedule")


class LoopChoices(TypedDict, total=False):
    """The fields of `LoopSchedule`."""

    order: tuple[int, ...]
    tile: tuple[int, ...]
    unroll: int | None
    vectorise: int | None
    parallel: int | None


USUAL_LOOPS = LoopSchedule()
"""The target's own choices."""


@dataclass(frozen=True)
class Schedule:
    """Choices for the code of one program.

    Example:
        >>> Schedule().every(unroll=8).kernel("add.0", tile=(32, 32), order=(1, 0)).loops.unroll
        8

    Attributes:
        vectorise: LLVM makes vector instructions of loops. unroll: it repeats their body. interleave: its vector loops work on
            several vectors a round. level: of its optimisation, 1 to 3. All of the code of this processor.
        loops: of every kernel, as far as they fit.
        kernels: of the kernels with these operations; these must fit.
    """

    vectorise: bool = True
    unroll: bool = True
    interleave: bool = True
    level: int = 3
    loops: LoopSchedule = USUAL_LOOPS
    kernels: tuple[tuple[str, LoopSchedule], ...] = ()

    def every(self, **choices: Unpack[LoopChoices]) -> Schedule:
        """Return the schedule with these loops for every kernel that they fit. Raises FleetError as `LoopSchedule` does."""
        return replace(self, loops=LoopSchedule(**choices))

    def kernel(self, operation: str, **choices: Unpack[LoopChoices]) -> Schedule:
        """Return the schedule with these loops for one kernel. operation: the id of an operation in it, as in `text("ir")`."""
        rest = tuple(one for one in self.kernels if one[0] != operation)
        return replace(self, kernels=(*rest, (operation, LoopSchedule(**choices))))


USUAL_SCHEDULE = Schedule()
"""What code is made with unless something else is asked for."""

_ONE_PROCESSOR = {"parallel": "one processor runs its code"}
_WORK_ITEMS = {"parallel": "all its work items run side by side", "vectorise": "its compiler chooses vectors"}
_LACKING: Mapping[str, Mapping[str, str]] = {
    **dict.fromkeys(("riscv", "aarch64"), _ONE_PROCESSOR),
    **dict.fromkeys(("opencl", "cuda", "gpu"), _WORK_ITEMS),
}
"""Target -> choices for a kernel that it does not have, and why."""
_SCHEDULED = ("cpu", "llvm-cpu", "cvm", "cvm-riscv", "cvm-aarch64", *_LACKING)
"""Targets whose kernels have loops."""


def check_schedule(schedule: Schedule, target: str) -> None:
    """Raise FleetError for a schedule of a target of `@jit` that has no such loops, or a kernel's choice that it does not have.

    A choice for every kernel is taken as far as it fits.
    """
    where = f"@jit, target {target}"
    if schedule == USUAL_SCHEDULE:
        return
    if target not in _SCHEDULED:
        hint = f"leave out the schedule; targets with one are {', '.join(_SCHEDULED)}"
        raise FleetError("it runs no loops that a schedule arranges", where=where, hint=hint)
    for operation, loops in schedule.kernels:
        for name, why in _LACKING.get(target, {}).items():
            if getattr(loops, name) is not None:
                what = f"kernel {operation} cannot have {name}={getattr(loops, name)}: {why}"
                raise FleetError(
                    what, where=where, hint=f"leave out {name}, or give it with every(...), which is taken where it fits"
                )
