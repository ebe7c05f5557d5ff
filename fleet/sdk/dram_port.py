"""A memory port beat by beat, in Python, for cost models: when reads are answered and writes are taken.

`TimedPort` does what rtl_models/memory/timed.h and dram.h do, decision for decision; `IdealPort` answers a beat a cycle. Both are
advanced cycle by cycle, in cycles of the core. Data do not pass through here.
"""

from __future__ import annotations

import re
from collections import deque
from collections.abc import Iterable

from fleet.sdk.dram import BEAT_BYTES, Dram

__all__ = ["IdealPort", "TimedPort", "clocks_a_batch", "clocks_a_beat"]

_NEVER = -(1 << 60)
_FIELD = re.compile(r"([RGBC])([0-9]+)")


class IdealPort:
    """The first beat in the cycle after the request, a beat a cycle, answers to writes the cycle after."""

    def __init__(self) -> None:
        self._reads: deque[int] = deque()  # beats still to come, a burst each

    @property
    def idle(self) -> bool:
        """Nothing is under way."""
        return not self._reads

    def read(self, cycle: int, address: int, beats: int) -> None:
        """Take the request of a burst in this cycle."""
        self._reads.append(beats)

    def accepts(self) -> bool:
        """Return whether the port takes a beat of a write."""
        return True

    def write(self, cycle: int, address: int) -> int:
        """Take a beat of a write; return the cycle in which its burst's answer can come."""
        return cycle + 1

    def serve(self, cycle: int) -> None:
        """Advance the controller by this cycle, before it sees the requests that arrive in it."""

    def beat(self, cycle: int) -> bool:
        """Return whether a beat can go out, to be seen in the next cycle; if so it has gone."""
        if not self._reads:
            return False
        self._reads[0] -= 1
        if not self._reads[0]:
            self._reads.popleft()
        return True


class _Bank:
    __slots__ = ("activate_from", "column_from", "open", "precharge_from", "row")

    def __init__(self) -> None:
        self.open = False
        self.row = 0
        self.activate_from = self.column_from = self.precharge_from = _NEVER


class _Banks:
    """rtl_models/memory/dram.h: the clock of a column access, given all before it."""

    def __init__(self, d: Dram, beat_bytes: int, phase: int) -> None:
        self._d = d
        shift, bits = beat_bytes.bit_length() - 1, dict.fromkeys("RGB", 0)
        self._fields: list[tuple[str, int, int, int]] = []
        for kind, digits in reversed(_FIELD.findall(d.map)):
            if kind != "C":
                self._fields.append((kind, shift, (1 << int(digits)) - 1, bits[kind]))
                bits[kind] += int(digits)
            shift += int(digits)
        self._bank_bits = bits["B"]
        self._banks = [_Bank() for _ in range(1 << bits["G"] + bits["B"])]
        groups = 1 << bits["G"]
        self._activated, self._column, self._written = [_NEVER] * groups, [_NEVER] * groups, [_NEVER] * groups
        self._next_refresh = phase
        self._activates = deque([_NEVER] * 4, 4)
        self._last_column = self._last_read = self._write_end = _NEVER
        self.bus_free = _NEVER

    def _target(self, address: int) -> tuple[int, int, int]:
        found = {"R": 0, "G": 0, "B": 0}
        for kind, shift, mask, to in self._fields:
            found[kind] |= (address >> shift & mask) << to
        return found["G"] << self._bank_bits | found["B"], found["G"], found["R"]

    def _plan(self, bank: _Bank, group: int, row: int, write: bool, known: int, data_from: int) -> tuple[int, int]:
        """(activate, column)."""
        d = self._d
        activate, column = _NEVER, max(known, bank.column_from)
        if not bank.open or bank.row != row:
            activate = max(known, bank.precharge_from) + d.t_rp if bank.open else max(known, bank.activate_from)
            activate = max(
                activate, self._activates[3] + d.t_rrd_s, self._activated[group] + d.t_rrd_l, self._activates[0] + d.t_faw
            )
            column = activate + d.t_rcd
        latency = d.cwl if write else d.cl
        column = max(
            column, self._last_column + d.t_ccd_s, self._column[group] + d.t_ccd_l, self.bus_free - latency, data_from - latency
        )
        if write:
            return activate, max(column, self._last_read + d.cl + d.burst + d.turn - d.cwl)
        return activate, max(column, self._write_end + d.t_wtr_s, self._written[group] + d.t_wtr_l)

    def _refresh(self) -> None:
        start = max([self._next_refresh, *(b.precharge_from for b in self._banks if b.open)])
        for bank in self._banks:
            bank.open = False
            bank.activate_from = start + self._d.t_rp + self._d.t_rfc
        self._next_refresh += self._d.t_refi

    def access(self, write: bool, address: int, known: int, data_from: int) -> int:
        """The clock at which its last data are on the bus."""
        d = self._d
        at, group, row = self._target(address)
        bank = self._banks[at]
        activate, column = self._plan(bank, group, row, write, known, data_from)
        while column >= self._next_refresh:
            self._refresh()
            activate, column = self._plan(bank, group, row, write, known, data_from)
        if activate != _NEVER:
            bank.open, bank.row = True, row
            bank.column_from, bank.precharge_from = activate + d.t_rcd, activate + d.t_ras
            self._activates.append(activate)
            self._activated[group] = activate
        self._last_column = self._column[group] = column
        self.bus_free = column + (d.cwl if write else d.cl) + d.burst
        if write:
            self._write_end = self._written[group] = self.bus_free
            bank.precharge_from = max(bank.precharge_from, self.bus_free + d.t_wr)
        else:
            self._last_read = column
            bank.precharge_from = max(bank.precharge_from, column + d.t_rtp)
        return self.bus_free


class TimedPort:
    """rtl_models/memory/timed.h. phase: clock of the memory at which it refreshes first, counted from cycle 0."""

    def __init__(self, d: Dram, space: str, core_mhz: float, phase: int) -> None:
        self._d, self._core_khz = d, round(1000 * core_mhz)
        self._bytes = BEAT_BYTES[space]
        self._banks = _Banks(d, self._bytes, phase)
        self._reads: deque[list[int]] = deque()  # address, beats left, known
        self._writes: deque[tuple[int, int]] = deque()  # address, known
        self._returned: deque[int] = deque()
        self._freed = deque([0] * d.return_beats)
        self._left_queue = deque([0] * d.queue_bursts)
        self._batch = 0

    @property
    def idle(self) -> bool:
        """No read is under way."""
        return not self._reads and not self._returned

    def _clocks(self, cycle: int) -> int:
        return cycle * self._d.clock_khz // self._core_khz

    def _cycle(self, clock: int) -> int:
        return -(-clock * self._core_khz // self._d.clock_khz)

    def read(self, cycle: int, address: int, beats: int) -> None:
        """Take the request of a burst in this cycle."""
        self._reads.append([address, beats, self._clocks(cycle) + self._d.request])

    def accepts(self) -> bool:
        """Return whether the port takes a beat of a write."""
        return len(self._writes) < self._d.write_beats

    def write(self, cycle: int, address: int) -> int:
        """Take a beat of a write; return the cycle in which its burst's answer can come."""
        known = self._clocks(cycle) + self._d.request
        self._writes.append((address, known))
        return max(self._cycle(known), cycle + 1)

    def _write_turn(self, now: int, read_asks: bool) -> bool:
        if not self._writes or self._writes[0][1] > now:
            self._batch = 0
            return False
        d = self._d
        if self._batch == 0 and (not read_asks or len(self._writes) >= d.write_batch or now - self._writes[0][1] >= d.write_wait):
            self._batch = d.write_batch
        return self._batch != 0

    def serve(self, cycle: int) -> None:
        """Advance the controller by this cycle, before it sees the requests that arrive in it."""
        if not self._reads and not self._writes:
            return
        d, now = self._d, self._clocks(cycle)
        while True:
            read_asks = bool(self._reads) and self._reads[0][2] <= now
            if self._write_turn(now, read_asks):
                if self._banks.bus_free > now + d.cl + 2 * d.burst:
                    return
                address, known = self._writes.popleft()
                self._banks.access(True, address, known, 0)
                self._batch -= 1
                continue
            if not read_asks or not self._freed:
                return
            read = self._reads[0]
            end = self._banks.access(False, read[0], max(read[2], self._left_queue[0]), self._freed.popleft())
            self._returned.append(self._cycle(end))
            read[0] += self._bytes
            read[1] -= 1
            if read[1] == 0:
                self._left_queue.popleft()
                self._left_queue.append(end - d.cl - d.burst)
                self._reads.popleft()

    def beat(self, cycle: int) -> bool:
        """Return whether a beat can go out, to be seen in the next cycle; if so it has gone."""
        if not self._returned or self._returned[0] > cycle + 1:
            return False
        self._returned.popleft()
        self._freed.append(self._clocks(cycle))
        return True


def clocks_a_beat(d: Dram, space: str, bursts: Iterable[tuple[int, int]]) -> float:
    """Clocks of the memory from beat to beat of reads (address, beats) that wait for nothing else, without refreshes."""
    banks = _Banks(d, BEAT_BYTES[space], 1 << 60)
    left = deque([0] * d.queue_bursts)
    ends: list[int] = []
    for address, beats in bursts:
        seen = left.popleft()
        for i in range(beats):
            ends.append(banks.access(False, address + i * BEAT_BYTES[space], seen, 0))
        left.append(ends[-1] - d.cl - d.burst)
    return (ends[-1] - ends[0]) / (len(ends) - 1) if len(ends) > 1 else float(d.burst)


def clocks_a_batch(d: Dram, space: str, reads: Iterable[int], writes: Iterable[int], apart: float, batch: int, lag: int) -> float:
    """Clocks of the memory by which reads come later for a batch of writes among them, without refreshes; 0 where none fits.

    reads, writes: addresses of beats, in order. A batch costs its beats, the bus turning twice, and where both are in one bank the
    rows. apart: reads to a write; lag: reads before the first one.
    """
    waiting = deque(writes)
    alone, shared = (_Banks(d, BEAT_BYTES[space], 1 << 60) for _ in range(2))
    later = done = 0
    for i, address in enumerate(reads):
        while len(waiting) >= batch and (i - lag) >= (done + 1) * batch * apart:
            for _ in range(batch):
                shared.access(True, waiting.popleft(), 0, 0)
            done += 1
        later = shared.access(False, address, 0, 0) - alone.access(False, address, 0, 0)
    return later / done if done else 0.0
