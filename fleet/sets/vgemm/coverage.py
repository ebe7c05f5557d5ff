"""Coverage hints beside the description: the dtype of results, and bins that no stream can meet."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from fleet.sdk import Call, CoverageHints, Device, Limit, Place, Write
from fleet.sets.vgemm.lower import emit
from fleet.sets.vgemm.lower.schedule import FINISH, ScheduledStep, synchronised
from fleet.sets.vgemm.operands import MemoryType
from fleet.sets.vgemm.pads import element_bytes, pad


def _fill(device: Device, rng: np.random.Generator, place: Place) -> tuple[Sequence[Call], Sequence[Write]]:
    """Load all scratchpads with random bits; indices of micro-operations wrap. Inputs are sometimes 0: products keep extremes."""
    still = bool(rng.random() < 0.3)
    steps: list[ScheduledStep] = [FINISH]
    blocks: list[Write] = []
    for kind in (MemoryType.UOP, MemoryType.INP, MemoryType.WGT, MemoryType.ACC):
        depth, element = pad(device, kind).depth, element_bytes(device, kind)
        at = place.take("ddr", depth * element, 64)
        data = rng.integers(0, 256, depth * element, dtype=np.uint8)
        if still and kind is MemoryType.INP:
            data[:] = 0
        if still and kind is MemoryType.ACC:
            data = rng.choice(np.array([0, 1, -1, 2**31 - 1, -(2**31)], "<i4"), data.size // 4).view(np.uint8)
        blocks.append(Write("ddr", at, data))
        steps.append(emit.load(device, kind, 0, at, 1, depth))
    return synchronised([*steps, FINISH]), blocks


def _barrier() -> Call:
    """Return a FINISH."""
    return synchronised([FINISH])[0]


def _limits(device: Device) -> Mapping[str, Limit]:
    deepest = max(pad(device, kind).depth for kind in MemoryType)
    acc, uop = pad(device, MemoryType.ACC).depth, device.parameters["UopDepth"]
    inside = "a range ends inside its scratchpad"
    loops = "loops run at least once"
    return {
        "load:*.sram_base": Limit(0, deepest - 1, inside),
        "store:*.sram_base": Limit(0, acc - 1, inside),
        "load:*.[xy]_size": Limit(1, deepest, inside),
        "store:*.[xy]_size": Limit(1, acc, inside),
        "load:load_w3.x_stride": Limit(1, 65535, "a stride is at least x_size"),
        "store:store_w3": Limit(1, 65535, "a stride is at least x_size"),
        "store:store_w0.p*_next": Limit(0, 0, "there is no module behind store"),
        "*:*.uop_begin": Limit(0, uop - 1, "micro-operations are inside their scratchpad"),
        "*:*.uop_end": Limit(1, uop, "micro-operations are inside their scratchpad, at least one"),
        "*:*.iter_out": Limit(1, 16383, loops),
        "*:*.iter_in": Limit(1, 16383, loops),
    }


_IMPOSSIBLE: tuple[tuple[str, str], ...] = (
    ("*:refused:busy", "the bench waits for room before it starts another word; sim/slow_port starts a busy one"),
    ("*:refused:bus_error", "every address of a legal call is inside memory, which then does not answer with an error"),
    ("*:refused:bad_binary", "binaries are encoded from legal calls; sim/vgemm feeds broken ones"),
    ("gemm:refused:unaligned", "it has no address"),
    ("alu:refused:unaligned", "it has no address"),
    ("gemm:refused:bad_dependency", "the compute module has queues on both sides"),
    ("alu:refused:bad_dependency", "the compute module has queues on both sides"),
    ("finish:refused:bad_*", "all of its bits but the opcode are reserved: it can only be of an illegal mode"),
    ("finish:refused:unaligned", "all of its bits but the opcode are reserved: it can only be of an illegal mode"),
    ("finish:refused:out_of_range", "all of its bits but the opcode are reserved: it can only be of an illegal mode"),
    ("gemm:cross:*:none", "it reads micro-operations that an earlier instruction loaded"),
    ("alu:cross:*:none", "it reads micro-operations that an earlier instruction loaded"),
    ("store:cross:*:none", "it reads accumulators that an earlier instruction wrote"),
    ("hazard:war:gemm:gemm", "what it may read it may write: a later one waits for the write"),
    ("hazard:war:gemm:alu", "what it may read it may write: a later one waits for the write"),
    ("hazard:war:alu:gemm", "what it may read it may write: a later one waits for the write"),
    ("hazard:war:alu:alu", "what it may read it may write: a later one waits for the write"),
)

COVERAGE = CoverageHints(
    dtypes={"gemm": "<i4", "alu": "<i4"}, fill=_fill, fills=("load",), barrier=_barrier, limits=_limits, impossible=_IMPOSSIBLE
)
