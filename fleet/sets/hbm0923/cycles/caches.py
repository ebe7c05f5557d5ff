"""Cycles of dat2hbm and wt2hbm, from the operands and the device's parameters.

    dat2hbm            a pixel per cycle. K: its port writes two beats in 4 cycles and can take the next pixel 6 cycles after
                       this one. V: all ports write 32 / ports beats, two cycles each, when 16 tokens are gathered or the last
                       one has arrived; the next pixel follows 2 cycles after that.
    wt2hbm             32 bytes per cycle, and one cycle between bursts of 512 bytes

With timed memory, pixels arrive as DDR delivers them (`fleet.sets.hbm0923.cycles.streams`), and the answer to the last write takes
the controller's time. Only the first pixels or beats are simulated one by one; the rest is extrapolated with the rate of their
second half. tests/sets/hbm0923/test_unit_timing.py compares the model with the RTL.
"""

from __future__ import annotations

from functools import lru_cache

from fleet.sdk import Device
from fleet.sdk.dram import BEAT_BYTES
from fleet.sdk.dram_port import IdealPort, TimedPort
from fleet.sets.hbm0923.cycles.attention import BURST
from fleet.sets.hbm0923.cycles.streams import Channel, StreamReader, flat_bursts, row_bursts, surface_bursts
from fleet.sets.hbm0923.cycles.units import PHASES, PHASES_OF_SHORT, SHORT, Memory, UnitPort, answer, port_of
from fleet.sets.hbm0923.mvm_operands import PIXEL_LANES, ceil_div
from fleet.sets.hbm0923.units.feature import FeatureTensor

FOLLOWED = 2048
"""Pixels or beats that are simulated one by one."""
PIXEL_TO_COMMIT = 25
"""Cycles besides dat2hbm's pixels, for K."""
COPY_AROUND = 11


def store_cycles(device: Device, source: FeatureTensor, *, keys: bool, last: int, memory: Memory = "ideal") -> int:
    """Return the cycles of dat2hbm from start to commit; with "timed" the mean over the phases.

    last: position of the first token. Raises DeviceError if there are no timing tables for "timed".
    """
    p = device.parameters
    ring = 2 * (1 << (p["MaxToken"] // PIXEL_LANES - 1).bit_length())
    found = _store(source, keys, last, p["HbmPorts"], ring, port_of(device, memory))
    return round(found + answer(device, "hbm", memory))


@lru_cache(maxsize=1024)
def _store(source: FeatureTensor, keys: bool, first: int, ports: int, ring: int, port: UnitPort) -> float:
    ends: list[float] = []
    short = source.lines * source.tokens * source.surfaces <= SHORT
    for memory in port.ports(PHASES_OF_SHORT if short else PHASES):
        reader = StreamReader(surface_bursts(source, BURST) if source.tokens > 1 else row_bursts(source, window=BURST), ring)
        channel = Channel(memory, [reader])
        ends.append(_store_once(source, keys, first, ports, channel, reader))
    return sum(ends) / len(ends)


def _store_once(source: FeatureTensor, keys: bool, first: int, ports: int, channel: Channel, reader: StreamReader) -> float:
    beats = 2 if keys else PIXEL_LANES // ports
    busy = 2 + 2 * beats
    free = [0] * ports
    take = 0
    takes: list[int] = []
    total = source.lines * source.surfaces * source.tokens
    for i in range(min(total, FOLLOWED)):
        w = i % source.tokens
        position = first + w
        at = position % ports if keys else 0
        begin = max(take + 1, channel.beat(0, i))
        take = max(begin, free[at])
        reader.pop(take)
        takes.append(take)
        if keys or position % 16 == 15 or w == source.tokens - 1:
            free[at] = take + busy
    end = PIXEL_TO_COMMIT + 2 * (beats - 2) + take
    if total > len(takes):
        half = len(takes) // 2
        end += (total - len(takes)) * (takes[-1] - takes[half]) / (len(takes) - 1 - half)
    return end


def copy_cycles(device: Device, source: int, destination: int, size: int, memory: Memory = "ideal") -> int:
    """Return the cycles of wt2hbm, from a DDR offset to an offset in a bank. Returns and raises as `store_cycles` does."""
    beats = ceil_div(size, BEAT_BYTES["hbm"])
    at = destination // BEAT_BYTES["hbm"]
    bursts = ceil_div(at % BURST + beats, BURST)
    if memory == "ideal":
        return COPY_AROUND + beats + bursts - 1
    return round(_copy(source, at, beats, port_of(device, memory), port_of(device, memory, "hbm")) + answer(device, "hbm", memory))


@lru_cache(maxsize=1024)
def _copy(source: int, at: int, beats: int, ddr: UnitPort, hbm: UnitPort) -> float:
    """Return the cycles with timed memory, without the answer. The port's write queue is simulated too."""
    phases = PHASES_OF_SHORT if beats <= FOLLOWED // 2 else PHASES
    # The phases of DDR and HBM are independent; long copies meet several refreshes.
    banks = list(hbm.ports(phases))
    ends = [_copy_once(source, at, beats, p, banks[(27 * i + 1) % phases]) for i, p in enumerate(ddr.ports(phases))]
    return sum(ends) / len(ends)


def _copy_once(source: int, at: int, beats: int, reads: IdealPort | TimedPort, writes: IdealPort | TimedPort) -> float:
    reader = StreamReader(flat_bursts(source, ceil_div(beats, 2), BURST), 32)
    channel = Channel(reads, [reader])
    count = min(beats, FOLLOWED)
    now = 0
    taken: list[int] = []
    for i in range(count):
        # There is no register between the reader and the hub.
        begin = max((taken[-1] if taken else 0) + 1, channel.beat(0, i // 2) - 1)
        if taken and (at + i) % BURST == 0:
            begin = max(begin, taken[-1] + 2)
        while now < begin or not writes.accepts():
            writes.serve(now)
            now += 1
        taken.append(now)
        writes.write(now, (at + i) * BEAT_BYTES["hbm"])
        if i % 2 or i == beats - 1:
            reader.pop(now)
    end = float(taken[-1])
    if beats > count:
        half = count // 2
        end += (beats - count) * (taken[-1] - taken[half]) / (count - 1 - half)
    return end + COPY_AROUND - 3
