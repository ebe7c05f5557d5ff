"""The streams between a unit and DDR or the on-chip memory, beat by beat, for the cost models.

Cycle 0 is the one in which the unit is told to run (after latch and check). The hardware modelled here is hbm0923_beat_reader,
hbm0923_beat_arbiter, hbm0923_ddr_hub and hbm0923_beat_writer, with the memory port behind them. Time advances only as far as a
caller asks; the caller has already reported what happened before (beats that left a ring, beats to be written).
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator

from fleet.sdk.dram_port import IdealPort, TimedPort
from fleet.sets.hbm0923.mvm_operands import PIXEL_BYTES
from fleet.sets.hbm0923.units.feature import FeatureTensor

MAX_BURST = 32
"""DDR beats that the SFU and elementwise request at once; bursts stay in aligned windows of this size."""
ANSWER = 2
"""Cycles from the port's acceptance of a read until its beat can be used: response and ring."""
_QUEUE = 64  # bursts that the port accepts ahead
_NEVER = 1 << 60
Burst = tuple[int, int]  # address, beats


def _run(address: int, beats: int, window: int) -> Iterator[Burst]:
    """Yield the bursts of contiguous beats."""
    while beats:
        n = min(beats, window - address // PIXEL_BYTES % window)
        yield address, n
        address, beats = address + n * PIXEL_BYTES, beats - n


def flat_bursts(address: int, beats: int, window: int = MAX_BURST) -> Iterator[Burst]:
    """Yield the bursts of contiguous coefficients."""
    return _run(address, beats, window)


def surface_bursts(f: FeatureTensor, window: int = MAX_BURST) -> Iterator[Burst]:
    """Yield the bursts of a tensor, each whole surface of tokens in turn."""
    if f.tokens == 1:
        yield from row_bursts(f, window=window)
        return
    for h in range(f.lines):
        for s in range(f.surfaces):
            yield from _run(f.base + h * f.line + s * f.surface, f.tokens, window)


def row_bursts(f: FeatureTensor, beats: list[int] | None = None, window: int = MAX_BURST) -> Iterator[Burst]:
    """Yield the bursts of a tensor token by token. beats: per token of a line, if not all surfaces are read."""
    for h in range(f.lines):
        at = f.base + h * f.line
        if f.surfaces == 1:
            yield from _run(at, f.tokens, window)
            continue
        for w in range(f.tokens):
            n = f.surfaces if beats is None else beats[w]
            if f.surface == PIXEL_BYTES:
                yield from _run(at + w * PIXEL_BYTES, n, window)
            else:
                yield from ((at + w * PIXEL_BYTES + s * f.surface, 1) for s in range(n))


class StreamReader:
    """A stream of reads into a ring. ready: for each arrived beat the cycle from which it can be used. free: free places."""

    def __init__(self, bursts: Iterator[Burst], depth: int, onchip: bool = False) -> None:
        self._bursts = bursts
        self.free = depth
        self._popped: deque[int] = deque()  # cycles in which beats leave the ring, ascending
        self.next = next(bursts, None)
        self.onchip = onchip
        self.ready: list[int] = []

    def pop(self, cycle: int) -> None:
        """Record that a beat leaves the ring."""
        self._popped.append(cycle)

    def asks(self, cycle: int) -> bool:
        """Return whether a burst is requested in this cycle."""
        if self.next is None:
            return False
        while self._popped and self._popped[0] < cycle:
            self._popped.popleft()
            self.free += 1
        return self.free >= self.next[1]

    def take(self) -> Burst:
        """Return the granted burst."""
        assert self.next is not None
        burst, self.next = self.next, next(self._bursts, None)
        self.free -= burst[1]
        return burst


class Channel:
    """The readers and the writer of one unit at the DDR hub."""

    def __init__(
        self, port: IdealPort | TimedPort, readers: list[StreamReader], *, out_onchip: bool = False, answer: int = ANSWER
    ) -> None:
        self._port, self._readers, self._out_onchip = port, readers, out_onchip
        self._now = 0
        self._which = 0
        self._offered: tuple[int, StreamReader, Burst] | None = None  # at the hub from this cycle on
        self._order: deque[list[int]] = deque()  # [reader, beats left] in DDR's order
        self._held: tuple[int, int] | None = None  # in DDR's register: (from this cycle on, beats)
        self._register: tuple[int, StreamReader, Burst] | None = None
        self._chip: list[int] | None = None  # reader, beats left, cycle of the next one
        self._ddr_beat = False  # a beat waits at the hub
        self._ddr_was = True  # as the last instruction leaves it
        self._queued = 0
        self._addresses: deque[tuple[int, int]] = deque()  # (cycle from which it can be taken, address)
        self._data: deque[tuple[int, int]] = deque()
        self.written: list[int] = []  # cycle in which a beat's data were taken
        self.answered = 0  # cycle of the last answer

    def write(self, cycle: int, address: int) -> None:
        """Hand a beat to the writer in this cycle."""
        self._addresses.append((cycle + 1, address))

    def beat(self, reader: int, index: int) -> int:
        """Return the cycle from which beat `index` of a reader can be used."""
        ready = self._readers[reader].ready
        while len(ready) <= index:
            self._cycle()
        return ready[index]

    def data_taken(self, index: int) -> int:
        """Return the cycle in which the data of written beat `index` are taken."""
        while len(self.written) <= index:
            self._cycle()
        return self.written[index]

    def _cycle(self) -> None:
        t = self._now
        port = self._port
        port.serve(t)
        self._issue(t)
        self.deliver(t)
        self._hub(t)
        self._arbiter(t)
        self._writer(t)
        self._now = t + 1

    def _arbiter(self, t: int) -> None:
        if self._offered is not None:
            return
        asks = [i for i, r in enumerate(self._readers) if t > 0 and r.asks(t)]
        if not asks:
            return
        reader = self._readers[self.choose(asks)]
        self._offered = (t + 1, reader, reader.take())

    def choose(self, asking: list[int]) -> int:
        """Choose the reader that is granted; two readers alternate."""
        self._which = 1 - self._which if len(asking) == 2 else asking[0]
        return self._which

    def _issue(self, t: int) -> None:
        if self._register is not None and self._register[0] <= t and self._queued < _QUEUE:
            _, reader, (address, beats) = self._register
            self._port.read(t, address, beats)
            self._order.append([self._readers.index(reader), beats])
            self._queued += 1
            self._register = None

    def _hub(self, t: int) -> None:
        # The register before DDR, and the walk through the on-chip memory, can be emptied and filled in the same cycle.
        if self._offered is not None and self._offered[0] <= t:
            _, reader, burst = self._offered
            if reader.onchip:
                if self._chip is None:
                    self._chip = [self._readers.index(reader), burst[1], t + 1]
                    self._offered = None
            elif self._register is None:
                self._register = (t + 1, reader, burst)
                self._offered = None

    def deliver(self, t: int) -> None:
        """Deliver the beats that the unit sees in the next cycle."""
        if not self._ddr_beat and self._order and self._port.beat(t):
            self._ddr_beat = True
        chip = self._chip is not None and self._chip[2] <= t
        if chip and (not self._ddr_beat or self._ddr_was):
            assert self._chip is not None
            self._readers[self._chip[0]].ready.append(t + ANSWER)
            self._chip[1] -= 1
            self._chip[2] = t + 1
            if not self._chip[1]:
                self._chip = None
            self._ddr_was = False
        elif self._ddr_beat:
            head = self._order[0]
            self._readers[head[0]].ready.append(t + ANSWER)
            head[1] -= 1
            if not head[1]:
                self._order.popleft()
                self._queued -= 1
            self._ddr_beat, self._ddr_was = False, True

    def _writer(self, t: int) -> None:
        if self._data and self._data[0][0] <= t and (self._out_onchip or self._port.accepts()):
            address = self._data.popleft()[1]
            self.written.append(t)
            self.answered = max(self.answered + 1, t + 1 if self._out_onchip else self._port.write(t, address))
        if self._addresses and self._addresses[0][0] <= t:
            self._data.append((t + 1, self._addresses.popleft()[1]))
