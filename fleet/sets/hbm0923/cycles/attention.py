"""Cycles of trp_mvm and f2w_mvm, from the operands and the device's parameters.

A step takes a beat of every HBM port and, for each pair of query head and token of a group, half a pixel of its input, every
`AttInterval` cycles. `AttQueries` pairs of one key/value head are a group, the last one of a head may have fewer: a group takes
(lines per port) x (beats per line) steps. The first step is 5 cycles after the start, if its pixels are there. The sums of a
line are rounded one pair a cycle, so they are complete at least `AttQueries` cycles after those of the line before. The operators'
latencies, parameters of the device, come once an instruction.

Pixels of the input come as DDR or the on-chip memory delivers them (`fleet.sets.hbm0923.cycles.streams`), row by row, each row into
the ring of its pair. With timed memory, the HBM ports' beats come as FIFO, latency and refreshes allow, burst by burst, for `SETS`
sets of phases at once (`fleet.sets.hbm0923.cycles.mvm_timed`), and the answer to the last write takes the controller's time. Only
the first steps are simulated one by one; the rest is extrapolated with the rate of their second half.
tests/sets/hbm0923/test_unit_timing.py compares the model with the RTL.
"""

from __future__ import annotations

from bisect import bisect_left
from collections import deque
from collections.abc import Iterator
from functools import lru_cache
from typing import NamedTuple

import numpy as np

from fleet.sdk import Device
from fleet.sdk.dram import BEAT_BYTES, dram
from fleet.sets.hbm0923.cycles.mvm_timed import SETS, PortRates, Refreshes, drawn_phases, port_rates
from fleet.sets.hbm0923.cycles.streams import Burst, Channel, StreamReader, flat_bursts
from fleet.sets.hbm0923.cycles.units import PHASES_OF_SHORT, Memory, UnitPort, answer, port_of
from fleet.sets.hbm0923.mvm_operands import PIXEL_BYTES, PIXEL_LANES, ceil_div
from fleet.sets.hbm0923.units.feature import FeatureTensor

FOLLOWED_STEPS = 4096
"""Steps that are simulated one by one. A port refreshes every 1,092 cycles, and only after two refreshes all ports have lost as
much as their FIFOs hide.
"""
FOLLOWED_OF_A_PHASE = 1024
"""The same of the input's pixels with timed memory, for each phase of DDR's refresh, where groups need them faster than half of
what the ring can be filled at."""
BURST = 16
"""Beats, of HBM and of DDR, that the attention unit and wt2hbm request at once, in aligned windows of this size."""
LATENCIES = ("DotLatency", "RoundLatency", "ScaleLatency", "NarrowLatency")
"""Parameters: cycles that the array's operators take one after the other."""
STEP_TO_COMMIT = 26
"""Cycles besides the steps and the latencies: before the units begin, three of the array, collecting, writing, answer, commit."""
STEP_TO_WRITE = 4
"""Cycles from a step to the writer besides the latencies: unpacking, the row's sum, handing over, collecting."""
_Times = np.ndarray  # binary64, one time per set of phases


class Lines(NamedTuple):
    """The reads from every HBM port.

    base: offset. heads, head: number of key/value heads and their stride. pairs: of query head and token that use a head.
    lines, line: lines of a head and their stride. beats: of a line.
    """

    base: int
    heads: int
    head: int
    pairs: int
    lines: int
    line: int
    beats: int

    def bursts(self, groups: int) -> Iterator[int]:
        """Yield the beats of the bursts, in order. groups: how often a head is read."""
        joined = self.lines == 1 or self.line == self.beats * BEAT_BYTES["hbm"]
        runs, length = (1, self.lines * self.beats) if joined else (self.lines, self.beats)
        for h in range(self.heads):
            for _ in range(groups):
                for i in range(runs):
                    at, left = (self.base + h * self.head + i * self.line) // BEAT_BYTES["hbm"], length
                    while left:
                        n = min(left, BURST - at % BURST)
                        yield n
                        at, left = at + n, left - n


class _Array(NamedTuple):
    """The array's use by an instruction, wherever keys and values lie.

    heads, pairs_of_head, lines, beats: as `Lines` has them. queries: pairs of a group. interval: cycles of a step. ring: pixels of
    a pair's ring. ports: of HBM. inner: pixels of a row of the input.
    """

    heads: int
    pairs_of_head: int
    lines: int
    beats: int
    queries: int
    interval: int
    ring: int
    ports: int
    inner: int
    latency: int

    @property
    def groups(self) -> int:
        """Groups of a key/value head."""
        return ceil_div(self.pairs_of_head, self.queries)

    @property
    def tail(self) -> int:
        """Pairs of a head's last group."""
        return (self.pairs_of_head - 1) % self.queries + 1

    @property
    def of_group(self) -> int:
        """Steps of a group."""
        return self.lines * self.beats

    @property
    def steps(self) -> int:
        """Total number of steps, and of beats of a port."""
        return self.heads * self.groups * self.of_group

    def pairs(self) -> Iterator[int]:
        """Yield the pairs of each group."""
        for _ in range(self.heads):
            yield from [self.queries] * (self.groups - 1)
            yield self.tail

    def ends_line(self, step: int) -> bool:
        """Return whether a step of a group is the last of a line."""
        return step % self.beats == self.beats - 1

    def completes(self, step: int) -> bool:
        """Return whether a step of a group completes pixels of the output."""
        line = step // self.beats
        return self.ends_line(step) and (line == self.lines - 1 or (line + 1) % (PIXEL_LANES // self.ports) == 0)


def attention_cycles(
    device: Device, source: FeatureTensor, destination: FeatureTensor, cache: Lines, memory: Memory = "ideal"
) -> int:
    """Return the cycles from start to commit; with "timed" the mean over the phases.

    source: the input, lines are query heads. Raises DeviceError if there are no timing tables for "timed".
    """
    p = device.parameters
    ring = 2 * (1 << (p["MaxToken"] // PIXEL_LANES - 1).bit_length())
    latency = sum(p[name] for name in LATENCIES)
    array = _Array(
        cache.heads, cache.pairs, cache.lines, cache.beats, p["AttQueries"], p["AttInterval"], ring, p["HbmPorts"], source.surfaces,
        latency,
    )  # fmt: skip
    around = STEP_TO_COMMIT + latency + array.tail - 1
    followed = FOLLOWED_STEPS if memory == "ideal" else FOLLOWED_OF_A_PHASE
    pixels = _pixels(source, destination, array, port_of(device, memory), followed)
    if memory == "ideal":
        return round(around + _end(pixels.steps, array))
    rates = port_rates(dram(device, "hbm"), device.clock_mhz)
    last = _steps(array, cache, rates, p["PortFifoDepth"], pixels.needed)
    return round(around + last + (0 if destination.onchip else answer(device, "ddr", memory)))


def _end(steps: np.ndarray, array: _Array) -> float:
    """Return the mean cycle of the last step. steps: [steps, phases], the cycles of the first ones, whose second half has the rate.

    The half is of whole groups where it holds one: the steps of a group need not be at one distance.
    """
    end, left = float(steps[-1].mean()), array.steps - len(steps)
    if left:
        half = len(steps) // 2
        back = half - half % array.of_group or half
        end += left * (end - float(steps[-1 - back].mean())) / back
    return end


class _Rings(StreamReader):
    """Reads into the rings of a group's pairs, which take rows in turn."""

    def __init__(self, source: FeatureTensor, array: _Array) -> None:
        super().__init__(_token_bursts(source), array.ring, source.onchip)
        self._rooms = [array.ring] * array.queries
        self._rows = (ring for pairs in array.pairs() for ring in range(pairs))
        self._inner, self._ring, self._left = array.inner, next(self._rows), array.inner
        self._freed: deque[tuple[int, int]] = deque()  # cycle, pairs whose rows are freed

    def free_rows(self, cycle: int, pairs: int) -> None:
        """Record that the oldest rows of so many pairs leave their rings."""
        self._freed.append((cycle, pairs))

    def asks(self, cycle: int) -> bool:
        """Return whether a burst is requested in this cycle."""
        while self._freed and self._freed[0][0] < cycle:
            for ring in range(self._freed.popleft()[1]):
                self._rooms[ring] += self._inner
        return self.next is not None and self._rooms[self._ring] >= self.next[1]

    def take(self) -> Burst:
        """Return the granted burst."""
        burst = super().take()
        self._rooms[self._ring] -= burst[1]
        self._left -= burst[1]
        if not self._left:
            self._ring, self._left = next(self._rows, 0), self._inner
        return burst


class _Pixels(NamedTuple):
    """What the input's pixels allow, if HBM never waits; both [n, phases].

    steps: cycles of the first steps. needed: cycles from which their pixels can be used.
    """

    steps: np.ndarray
    needed: np.ndarray


@lru_cache(maxsize=1024)
def _pixels(source: FeatureTensor, destination: FeatureTensor, array: _Array, port: UnitPort, followed: int) -> _Pixels:
    """Simulate the steps one by one, as far as pixels decide, those of the output too. followed: at most so many steps."""
    # Where a group asks for its pixels slowly enough, they are there before it begins, but for the first one.
    slow = 2 * array.queries * array.inner <= array.interval * array.of_group
    count = min(array.steps, followed, 2 * array.of_group if slow else followed)
    steps, needed = list[list[int]](), list[list[int]]()
    for memory in port.ports(PHASES_OF_SHORT):
        reader = _Rings(source, array)
        channel = Channel(memory, [reader], out_onchip=destination.onchip)
        steps.append([])
        needed.append([])
        _follow(array, channel, reader, destination, steps[-1], needed[-1], count)
    return _Pixels(np.array(steps, np.float64).T, np.array(needed, np.float64).T)


def _follow(
    array: _Array, channel: Channel, reader: _Rings, out: FeatureTensor, steps: list[int], needed: list[int], count: int
) -> None:
    step, ended, first, pair = -array.interval, -array.queries, 0, 0
    for pairs in array.pairs():
        last_row, surface = first + (pairs - 1) * array.inner, 0
        places = [out.base + h * out.line + w * PIXEL_BYTES for h, w in (divmod(pair + q, out.tokens) for q in range(pairs))]
        for k in range(array.of_group):
            need = channel.beat(0, last_row + k // 2) if k < array.beats else step
            step = max(step + array.interval, need)
            if array.ends_line(k):
                step = ended = max(step, ended + array.queries)
            if array.completes(k):
                for q, place in enumerate(places):
                    channel.write(step + STEP_TO_WRITE + array.latency + q, place + surface)
                surface += out.surface
            steps.append(step)
            needed.append(need)
            if len(steps) == count:
                return
        reader.free_rows(step, pairs)
        first += pairs * array.inner
        pair += pairs


def _token_bursts(f: FeatureTensor) -> Iterator[Burst]:
    """Yield the bursts of a token's pixels. They are longer than one pixel only if its surfaces are adjacent."""
    for h in range(f.lines):
        for w in range(f.tokens):
            at = f.base + h * f.line + w * PIXEL_BYTES
            if f.surface == PIXEL_BYTES:
                yield from flat_bursts(at, f.surfaces, BURST)
            else:
                yield from ((at + s * f.surface, 1) for s in range(f.surfaces))


def _steps(array: _Array, cache: Lines, rates: PortRates, fifo: int, pixels: np.ndarray) -> float:
    """Return the cycle of the last step. pixels: [n, phases], for the first n steps, as `_Pixels.needed`."""
    here = np.tile(pixels, SETS // PHASES_OF_SHORT)  # [n, SETS]
    refreshes = Refreshes(drawn_phases(array.ports, rates, SETS), rates)
    zero = np.zeros((SETS, array.ports))
    total = min(array.steps, FOLLOWED_STEPS)
    times: list[_Times] = []  # of the steps
    step = np.full(SETS, -float(array.interval))
    ended = np.full(SETS, -float(array.queries))
    ready, taken, come = zero, [zero], [0]  # of each burst: the last beat at the port, beats up to it
    for j, n in enumerate(cache.bursts(array.groups)):
        k = len(times)
        if k >= total:
            break
        # The port accepts a burst two cycles after the launch, which is a cycle after the pop that made room.
        room = k + n - fifo
        asked = (times[room - 1] + 2)[:, None] if room > 0 else np.full((SETS, array.ports), float(3 + j))
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
            step = np.maximum(step + array.interval, np.maximum(first + i, last - (n - 1 - i)))
            if k + i < len(here):
                step = np.maximum(step, here[k + i])
            step = np.ceil(step)
            if array.queries > 1 and array.ends_line((k + i) % array.of_group):
                step = ended = np.maximum(step, ended + array.queries)
            times.append(step)
    return _end(np.array(times), array)
