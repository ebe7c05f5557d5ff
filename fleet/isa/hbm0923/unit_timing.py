"""Cycles of the instructions beside MVM, with ideal memory: the bound of what streams, plus constants.

A unit at a lower clock takes a beat of 32 lanes every `SfuInterval` cycles. The DDR port reads a beat a cycle and writes a
beat a cycle; an HBM port reads or writes 32 bytes a cycle, 16 FP16.
"""

from __future__ import annotations

from typing import NamedTuple

from fleet.isa.contract import Device
from fleet.isa.hbm0923.operands import BEAT_BYTES, PIXEL_BYTES, PIXEL_LANES, ceil_div


class Constants(NamedTuple):
    """Cycles that do not depend on sizes: start to the first read, its latency, the last write's response and the commit.

    row: what a row waits for between two passes over it, that is the reduction and a function of its result.
    """

    start: int = 13
    pipeline: int = 24
    write: int = 3
    row: int = 24


CONSTANTS = Constants()


def streaming(device: Device, beats: int, read_beats: int, *, passes: int = 1, rows: int = 0) -> int:
    """A unit that goes `passes` times over `beats`, reads `read_beats` from DDR and waits after each of `rows` per pass."""
    busy = device.parameters["SfuInterval"] * (passes * beats + (passes - 1) * rows)
    c = CONSTANTS
    return c.start + max(busy, read_beats) + c.pipeline + (c.row * (passes - 1) if rows else 0) + c.write


def attention(device: Device, rows: int, reduced: int, outputs: int, cache_beats: int, feature_beats: int) -> int:
    """`rows` queries against `outputs` vectors of `reduced` elements that are spread over the HBM ports.

    cache_beats: of one port, each read once; feature_beats: DDR beats read.
    """
    steps = rows * ceil_div(outputs, device.parameters["HbmPorts"]) * ceil_div(reduced, PIXEL_LANES)
    halves = PIXEL_LANES * 2 // BEAT_BYTES
    busy = device.parameters["AttInterval"] * halves * steps
    c = CONSTANTS
    return c.start + max(busy, cache_beats, feature_beats) + c.pipeline + c.row + c.write


def copy(read_bytes: int, port_beats: int) -> int:
    """Bytes from DDR to HBM ports, of which the busiest takes `port_beats`."""
    c = CONSTANTS
    return c.start + max(ceil_div(read_bytes, PIXEL_BYTES), port_beats) + c.pipeline + c.write
