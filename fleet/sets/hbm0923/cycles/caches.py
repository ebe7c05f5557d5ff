"""Cycles of trp_mvm, f2w_mvm, dat2hbm and wt2hbm, from the operands and the device's parameters.

    trp_mvm, f2w_mvm   a step takes a beat of every HBM port and half a pixel of the input, every `AttInterval` cycles; a query
                       head of a token takes (lines per port) x (beats per line) steps. The first step is 5 cycles after the start.
    dat2hbm            a pixel per cycle. K: its port writes two beats in 4 cycles and can take the next pixel 6 cycles after
                       this one. V: all ports write 32 / ports beats, two cycles each, when 16 tokens are gathered or the last
                       one has arrived; the next pixel follows 2 cycles after that.
    wt2hbm             32 bytes per cycle, and one cycle between bursts of 512 bytes

With timed memory, pixels arrive as DDR delivers them (`fleet.sets.hbm0923.cycles.streams`) and the HBM ports' beats as FIFO,
latency and refreshes allow, burst by burst, for `SETS` sets of phases at once (`fleet.sets.hbm0923.cycles.mvm_timed`). The answer
to the last write takes the controller's time. Only the first steps are simulated one by one; the rest is extrapolated with the rate
of their second half. tests/sets/hbm0923/test_unit_timing.py compares the model with the RTL.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterator
from functools import lru_cache
from typing import NamedTuple

import numpy as np

from fleet.sdk import Device
from fleet.sdk.dram import BEAT_BYTES, dram
from fleet.sdk.dram_port import IdealPort, TimedPort
from fleet.sets.hbm0923.cycles.mvm_timed import SETS, PortRates, Refreshes, drawn_phases, port_rates
from fleet.sets.hbm0923.cycles.streams import Channel, StreamReader, flat_bursts, row_bursts, surface_bursts
from fleet.sets.hbm0923.cycles.units import PHASES, PHASES_OF_SHORT, SHORT, Memory, UnitPort, port_of
from fleet.sets.hbm0923.mvm_operands import PIXEL_BYTES, PIXEL_LANES, ceil_div
from fleet.sets.hbm0923.units.feature import FeatureTensor

FOLLOWED_STEPS, FOLLOWED = 4096, 2048
"""Steps of attention, and pixels or beats of the others, that are simulated one by one. A port refreshes every 1,092 cycles, and
only after two refreshes all ports have lost as much as their FIFOs hide.
"""
BURST = 16
"""Beats, of HBM and of DDR, that the attention unit and the copy request at once, in aligned windows of this size."""
FIRST = 5
"""Cycle of the first step with ideal memory."""
STEP_TO_COMMIT = 29
"""Cycles besides the steps: before the units begin, six of the array, collecting, writing, answer, commit."""
PIXEL_TO_COMMIT = 25
"""Cycles besides dat2hbm's pixels, for K."""
COPY_AROUND = 11
_Times = np.ndarray  # binary64, one time per set of phases


class Lines(NamedTuple):
    """The reads from every HBM port.

    base: offset. heads, head: number of key/value heads and their stride. repeats: how often a head is read. lines, line: lines of
    a head and their stride. beats: of a line.
    """

    base: int
    heads: int
    head: int
    repeats: int
    lines: int
    line: int
    beats: int

    def bursts(self) -> Iterator[int]:
        """Yield the beats of the bursts, in order."""
        joined = self.lines == 1 or self.line == self.beats * BEAT_BYTES["hbm"]
        runs, length = (1, self.lines * self.beats) if joined else (self.lines, self.beats)
        for h in range(self.heads):
            for _ in range(self.repeats):
                for i in range(runs):
                    at, left = (self.base + h * self.head + i * self.line) // BEAT_BYTES["hbm"], length
                    while left:
                        n = min(left, BURST - at % BURST)
                        yield n
                        at, left = at + n, left - n

    @property
    def steps(self) -> int:
        """Total number of beats of a port."""
        return self.heads * self.repeats * self.lines * self.beats


def _answer(device: Device, space: str, memory: Memory) -> int:
    """Return the cycles by which a write's answer comes later than with ideal memory."""
    if memory == "ideal":
        return 0
    d = dram(device, space)
    return ceil_div(round(d.request * 1000 * device.clock_mhz), d.clock_khz) - 1


def attention_cycles(
    device: Device, source: FeatureTensor, destination: FeatureTensor, cache: Lines, memory: Memory = "ideal"
) -> int:
    """Return the cycles from start to commit; with "timed" the mean over the phases.

    source: the input, lines are query heads. Raises DeviceError if there are no timing tables for "timed".
    """
    p = device.parameters
    interval = p["AttInterval"]
    if memory == "ideal":
        return STEP_TO_COMMIT + FIRST + interval * (cache.steps - 1)
    rates = port_rates(dram(device, "hbm"), device.clock_mhz)
    ring = 2 * (1 << (p["MaxToken"] // PIXEL_LANES - 1).bit_length())
    pixels = _pixels(source, ring, port_of(device, memory))
    last = _steps(cache, rates, p["HbmPorts"], p["PortFifoDepth"], interval, source.surfaces, pixels)
    return round(STEP_TO_COMMIT + last + (0 if destination.onchip else _answer(device, "ddr", memory)))


@lru_cache(maxsize=1024)
def _pixels(source: FeatureTensor, ring: int, port: UnitPort) -> tuple[tuple[int, ...], ...]:
    """Return the cycles from which the first pixels can be used, as many as the ring holds; one tuple per phase."""
    count = min(ring, source.lines * source.tokens * source.surfaces)
    found: list[tuple[int, ...]] = []
    for memory in port.ports(PHASES_OF_SHORT):
        channel = Channel(memory, [StreamReader(_token_bursts(source), ring, source.onchip)])
        found.append(tuple(channel.beat(0, i) for i in range(count)))
    return tuple(found)


def _token_bursts(f: FeatureTensor) -> Iterator[tuple[int, int]]:
    """Yield the bursts of a token's pixels: (address, beats). They are longer than one pixel only if its surfaces are adjacent."""
    for h in range(f.lines):
        for w in range(f.tokens):
            at = f.base + h * f.line + w * PIXEL_BYTES
            if f.surface == PIXEL_BYTES:
                yield from flat_bursts(at, f.surfaces, BURST)
            else:
                yield from ((at + s * f.surface, 1) for s in range(f.surfaces))


@lru_cache(maxsize=1024)
def _steps(
    cache: Lines, rates: PortRates, ports: int, fifo: int, interval: int, surfaces: int, pixels: tuple[tuple[int, ...], ...]
) -> float:
    """Return the cycle of the last step."""
    here = np.tile(np.array(pixels, np.float64).T, SETS // PHASES_OF_SHORT)  # [pixels, SETS]
    refreshes = Refreshes(drawn_phases(ports, rates, SETS), rates)
    zero = np.zeros((SETS, ports))
    per_pair = cache.lines * cache.beats
    total = min(cache.steps, FOLLOWED_STEPS)
    times: list[_Times] = []  # of the steps
    step = np.full(SETS, -float(interval))
    ready, taken, come = zero, [zero], [0]  # of each burst: the last beat at the port, beats up to it
    for j, n in enumerate(cache.bursts()):
        k = len(times)
        if k >= total:
            break
        # The port accepts a burst two cycles after the launch, which is a cycle after the pop that made room.
        room = k + n - fifo
        asked = (times[room - 1] + 2)[:, None] if room > 0 else np.full((SETS, ports), float(3 + j))
        begins = np.maximum(np.maximum(asked, 3.0 + j) + (rates.first if j == 0 else rates.hit) - rates.beat, ready)
        if k + n > rates.buffer:  # its last beat needs the place of one in the return buffer
            begins = np.maximum(begins, taken[bisect_left(come, k + n - rates.buffer)] - n)
        done = begins + n * rates.beat
        ready = done + refreshes.delay(begins, done)
        first = np.maximum(taken[-1] + 1, np.minimum(begins + rates.beat, ready))
        last = np.maximum(first + n - 1, ready)
        taken.append(last)
        come.append(k + n)
        first, last = first.max(axis=1) + 2, last.max(axis=1) + 2
        for i in range(n):
            step = np.maximum(step + interval, np.maximum(first + i, last - (n - 1 - i)))
            pair, beat = divmod(k + i, per_pair)
            pixel = pair * surfaces + beat % cache.beats // 2
            if beat < cache.beats and pixel < len(here):
                step = np.maximum(step, here[pixel])
            times.append(np.ceil(step))
            step = times[-1]
    end = float(times[-1].mean())
    if len(times) < cache.steps:
        half = len(times) // 2
        end += (cache.steps - len(times)) * (end - float(times[half].mean())) / (len(times) - 1 - half)
    return end


def store_cycles(device: Device, source: FeatureTensor, *, keys: bool, last: int, memory: Memory = "ideal") -> int:
    """Return the cycles of dat2hbm. last: position of the first token. Returns and raises as `attention_cycles` does."""
    p = device.parameters
    ring = 2 * (1 << (p["MaxToken"] // PIXEL_LANES - 1).bit_length())
    found = _store(source, keys, last, p["HbmPorts"], ring, port_of(device, memory))
    return round(found + _answer(device, "hbm", memory))


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
    """Return the cycles of wt2hbm, from a DDR offset to an offset in a bank. Returns and raises as `attention_cycles` does."""
    beats = ceil_div(size, BEAT_BYTES["hbm"])
    at = destination // BEAT_BYTES["hbm"]
    bursts = ceil_div(at % BURST + beats, BURST)
    if memory == "ideal":
        return COPY_AROUND + beats + bursts - 1
    return round(_copy(source, at, beats, port_of(device, memory), port_of(device, memory, "hbm")) + _answer(device, "hbm", memory))


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
