"""Windows that slide, in one step: `pad`, `reshape [..., h, w] -> [..., h * w]`, `gather` of the last axis by a table.

The three, or the last two, one after the other with nothing else that reads what lies between, are one call of `SlidingWindows`,
which makes the same bits; runs that are observed take the steps one by one.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from fleet.targets.bytecode.decode import DecodedStep, StepBlock
from fleet.targets.bytecode.generated.vectors import gone, is_reshape, joined_steps, shapes
from fleet.targets.bytecode.hints import DispatchInfo, parse_type, sequence
from fleet.targets.bytecode.kernels.windows import PaddedPlanes, SlidingWindows, separate_steps


def with_windows(block: StepBlock) -> StepBlock:
    """Return the block with such steps joined; as it is if there are none."""
    return joined_steps(block, _joined, 3)


def _joined(last: list[DecodedStep]) -> tuple[int, DecodedStep] | None:
    """Return how many of the last steps are windows, and those in one step; None if they are not."""
    if len(last) < 2 or not is_reshape(last[-2]) or not _reads(last[-1], last[-2]):
        return None
    reshape, gather = last[-2:]
    info, (shape, flat) = gather.info, shapes(reshape)
    if info is None or info.name != "gather" or len(gather.sources) != 2 or len(shape) < 3 or -1 in shape:
        return None
    if info.attrs.get("axis", 0) != len(flat) - 1 or flat != (*shape[:-2], shape[-2] * shape[-1]):
        return None
    steps, own, padding = [reshape, gather], shape, [(0, 0)] * len(shape)
    if len(last) > 2 and _reads(reshape, last[-3]) and (found := _padding(last[-3].info, len(shape))):
        steps, padding = [last[-3], *steps], found
        own = tuple(n - low - high for n, (low, high) in zip(shape, padding, strict=True))
    if any(width != (0, 0) for width in padding[:-2]) or min(own) < 0:
        return None
    planes = PaddedPlanes(own, (padding[-2], padding[-1]))
    function = SlidingWindows(planes, separate_steps([s.function for s in steps], padded=len(steps) > 2))
    between = {s.target for s in steps[:-1]}
    dead = {r for s in steps for r in s.dead} - between
    sources = (*steps[0].sources, gather.sources[1])
    return len(steps), replace(gather, function=function, sources=sources, dead=tuple(sorted(dead)))


def _reads(step: DecodedStep, before: DecodedStep) -> bool:
    """Return whether the step's first operand is what the step before made, and no other reads it."""
    return step.sources[:1] == (before.target,) and before.target not in step.sources[1:] and gone(before.target, step)


def _padding(info: DispatchInfo | None, rank: int) -> list[tuple[int, int]] | None:
    if info is None or info.name != "pad":
        return None
    widths = list(zip(sequence(info.attrs, "low"), sequence(info.attrs, "high"), strict=True))
    dtypes = {parse_type(t)[1] for t in (info.in_types[0], info.out_types[0])}
    return widths if len(widths) == rank and len(dtypes) == 1 and dtypes <= {np.dtype("f4"), np.dtype("i4")} else None
