"""Cycles of an instruction alone, with ideal memory, from the hardware's steps (rtl_models/vgemm)."""

from __future__ import annotations

from fleet.sdk import Device
from fleet.sets.vgemm.pads import BEAT, element_bytes
from fleet.sets.vgemm.shapes import Loops, Transfer, columns, iterations, rows

__all__ = ["FINISH_CYCLES", "MODULE_CYCLES", "PAGE", "load_cycles", "loop_cycles", "store_cycles"]

FINISH_CYCLES = 8
"""Start, four cycles of checks, into the order of commits, told, committed: what every instruction takes beside its module."""

MODULE_CYCLES = 1 + FINISH_CYCLES
"""The queue of the module is another step."""
_LOOP = MODULE_CYCLES + 1
"""A micro-operation is read in one cycle and carried out in the next."""
_BURST = 2
"""Finding that a beat is missing, and asking for it; the memory answers in the next cycle."""
_WRITE = 3
"""A beat is handed over, and the answer comes in the cycle after the next."""
PAGE = 4096
"""No burst crosses it."""


def load_cycles(device: Device, t: Transfer) -> int:
    """A unit (an element, at most 64 bytes) and a beat each take a cycle; every row has bursts of its own."""
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
    """An element takes a cycle, and every beat that it ends in."""
    size = element_bytes(device, t.memory_type)
    beats = 0
    for y in range(t.y_size):
        first = t.address + y * t.x_stride * size
        beats += (first + t.x_size * size - 1) // BEAT - first // BEAT + 1
    return MODULE_CYCLES + t.y_size * t.x_size + _WRITE * beats


def loop_cycles(loops: Loops) -> int:
    """A micro-operation a cycle."""
    return _LOOP + iterations(loops)
