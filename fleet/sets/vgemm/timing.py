"""Cycles of a single instruction with ideal memory, from the hardware's steps (rtl_models/vgemm)."""

from __future__ import annotations

from fleet.sdk import Device
from fleet.sets.vgemm.pads import BEAT, element_bytes
from fleet.sets.vgemm.shapes import Loops, Transfer, columns, iterations, rows

FINISH_CYCLES = 8
"""Cycles of every instruction besides its module: start, four cycles of checks, entry into the commit order, completion, commit."""

MODULE_CYCLES = 1 + FINISH_CYCLES
"""Entering the module's queue takes one more cycle."""
_LOOP = MODULE_CYCLES + 1
"""A micro-operation is read in one cycle and executed in the next."""
_BURST = 2
"""Detecting a missing beat, and requesting it; the memory answers in the next cycle."""
_WRITE = 3
"""A beat is handed over, and the answer comes two cycles later."""
PAGE = 4096
"""No burst crosses a multiple of this number of bytes."""


def load_cycles(device: Device, t: Transfer) -> int:
    """Return the cycles of a load: one per unit (an element, at most 64 bytes) and one per beat; every row has its own bursts."""
    size = element_bytes(device, t.memory_type)
    units = rows(t) * columns(t) * max(size // BEAT, 1)
    beats = bursts = 0
    for y in range(t.y_size):
        first = t.address + y * t.x_stride * size
        last = first + t.x_size * size - 1
        beats += last // BEAT - first // BEAT + 1
        bursts += last // PAGE - first // PAGE + 1
    return MODULE_CYCLES + units + beats + _BURST * bursts


def store_cycles(device: Device, t: Transfer) -> int:
    """Return the cycles of a store: one per element, and one per beat that it completes."""
    size = element_bytes(device, t.memory_type)
    beats = 0
    for y in range(t.y_size):
        first = t.address + y * t.x_stride * size
        beats += (first + t.x_size * size - 1) // BEAT - first // BEAT + 1
    return MODULE_CYCLES + t.y_size * t.x_size + _WRITE * beats


def loop_cycles(loops: Loops) -> int:
    """Return the cycles of a loop: one per micro-operation."""
    return _LOOP + iterations(loops)
