"""What coverage has to know beside the description: the dtype of results, and bins that no stream can meet."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from fleet.isa.conformance import Place
from fleet.isa.contract import Call, Device, Write
from fleet.isa.coverage import CoverageHints
from fleet.isa.vgemm import emit
from fleet.isa.vgemm.pads import element_bytes, pad
from fleet.isa.vgemm.schedule import FINISH, Step, synchronised
from fleet.isa.vgemm.words import MemoryType

__all__ = ["COVERAGE"]


def _fill(device: Device, rng: np.random.Generator, place: Place) -> tuple[Sequence[Call], Sequence[Write]]:
    """Loads all scratchpads with any bits: indices of micro-operations wrap."""
    steps: list[Step] = [FINISH]
    blocks: list[Write] = []
    for kind in (MemoryType.UOP, MemoryType.INP, MemoryType.WGT, MemoryType.ACC):
        depth, element = pad(device, kind).depth, element_bytes(device, kind)
        at = place.take("ddr", depth * element, 64)
        blocks.append(Write("ddr", at, rng.integers(0, 256, depth * element, dtype=np.uint8)))
        steps.append(emit.load(device, kind, 0, at, 1, depth))
    return synchronised([*steps, FINISH]), blocks

_IMPOSSIBLE: tuple[tuple[str, str], ...] = (
    ("*:refused:busy", "the bench waits for room before it starts another word; sim/slow_port starts a busy one"),
    ("*:refused:bus_error", "every address of a legal call is inside memory, which then does not answer with an error"),
    ("*:refused:bad_binary", "binaries are encoded from legal calls; sim/vgemm feeds broken ones"),
)

COVERAGE = CoverageHints(dtypes={"gemm": "<i4", "alu": "<i4"}, fill=_fill, impossible=_IMPOSSIBLE)
