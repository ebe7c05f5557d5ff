"""Cycles of a single LOAD or STORE with timed memory: the steps of rtl_models/vgemm's loader and storer beside a DRAM port.

A load requests a burst when it has no beat left, takes a beat when the one before is used up, and a unit of it per cycle. Its
waiting depends on the phase of DDR's refresh, so the result is a mean over phases. A store waits for the answer to each beat, which
the controller gives before it accesses the banks. sim/conformance/test_phases.py compares the model with the RTL.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from functools import lru_cache

from fleet.sdk import Device
from fleet.sdk.dram import Dram, dram
from fleet.sdk.dram_port import TimedPort
from fleet.sets.vgemm.pads import BEAT, element_bytes
from fleet.sets.vgemm.shapes import FLAGS, Transfer, columns, pads
from fleet.sets.vgemm.timing import MODULE_CYCLES, PAGE

_PHASES = ((64, 64), (640, 16), (1 << 30, 4))
"""(maximum beats, phases to simulate): a short instruction meets a refresh or not, a long one meets several."""
_WINDOW = 1 << 20
"""Bytes after which the mapping to banks and rows repeats: addresses shifted by it take the same cycles."""


def timed_load_cycles(device: Device, t: Transfer) -> int:
    """Return the mean over refresh phases. Raises DeviceError if the device has no timing of its memory."""
    size = element_bytes(device, t.memory_type)
    near = replace(t, address=t.address % _WINDOW, sram_base=0, **dict.fromkeys(FLAGS, False))
    return round(_load(dram(device, "ddr"), device.clock_mhz, size, near))


def timed_store_cycles(device: Device, t: Transfer) -> int:
    """Return the cycles, the same in all phases. Raises DeviceError if the device has no timing of its memory."""
    d = dram(device, "ddr")
    size = element_bytes(device, t.memory_type)
    port = TimedPort(d, "ddr", device.clock_mhz, 0)
    now = 0
    for y in range(t.y_size):
        first = t.address + y * t.x_stride * size
        last = first + t.x_size * size - 1
        now += t.x_size
        for _ in range(first // BEAT, last // BEAT + 1):
            # The address is sent in this cycle, the data in the next.
            now = port.write(now + 1, 0) + 1
    return MODULE_CYCLES + now


@lru_cache(maxsize=4096)
def _load(d: Dram, core_mhz: float, size: int, t: Transfer) -> float:
    beats = sum(-(-n // BEAT) for _, n in _rows(t, size))
    phases = next(count for most, count in _PHASES if beats <= most)
    found = 0
    for i in range(phases):
        # A refresh that began before the instruction may still run.
        phase = (2 * i + 1) * d.t_refi // (2 * phases) - d.t_refi
        found += _followed(TimedPort(d, "ddr", core_mhz, phase), size, t)
    return MODULE_CYCLES + found / phases


def _rows(t: Transfer, size: int) -> Iterator[tuple[int, int]]:
    """Yield (address, bytes) of the rows in DDR."""
    for y in range(t.y_size):
        yield t.address + y * t.x_stride * size, t.x_size * size


class _Channel:
    """The port's read channel: an offered beat stays until it is taken."""

    def __init__(self, port: TimedPort) -> None:
        self._port, self._now, self._offered = port, 0, False

    def ask(self, cycle: int, address: int, beats: int) -> None:
        """Request a burst, which the port accepts in this cycle; no other request is in progress."""
        self._now = cycle
        self._port.read(cycle, address, beats)

    def take(self, cycle: int) -> int:
        """Return the first cycle from this one on in which the next beat is taken."""
        while self._now < cycle or not self._offered:
            self._step()
        self._offered = False
        self._step()
        return self._now - 1

    def _step(self) -> None:
        self._port.serve(self._now)
        self._offered = self._offered or self._port.beat(self._now)
        self._now += 1


def _followed(port: TimedPort, size: int, t: Transfer) -> int:
    """Simulate the loader in one phase; return its cycles."""
    channel = _Channel(port)
    chunks, unit = max(size // BEAT, 1), min(size, BEAT)
    zeros = columns(t) * chunks
    (above, below), (left_pad, right_pad) = pads(t)
    now = above * zeros
    for address, length in _rows(t, size):
        now += left_pad * chunks
        at, end, left = address, address + length, 0
        while at < end:
            if not left:
                left = min((end - 1) // BEAT, at // PAGE * (PAGE // BEAT) + PAGE // BEAT - 1) - at // BEAT + 1
                channel.ask(now + 1, at // BEAT * BEAT, left)
                now += 2
            stop = min(end, at // BEAT * BEAT + BEAT)
            now = channel.take(now) + 1 + (stop - at) // unit
            at, left = stop, left - 1
        now += right_pad * chunks
    return now + below * zeros
