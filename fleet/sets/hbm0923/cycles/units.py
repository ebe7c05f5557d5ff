"""Cycles of norm, pos_emb, softmax, act and elementwise, from the operands and the device's parameters.

A unit takes a beat of 32 lanes every `SfuInterval` cycles (a step). Beats arrive through
`fleet.sets.hbm0923.cycles.streams.Channel`: the first one 5 cycles after the start, then one per cycle; two streams alternate burst
by burst. With k the step in which a beat is taken,

    pass A    softmax: maximum. If the row's last beat is at k, the next pass begins at k + 6
    pass B    norm: sums and root, last pass at k + 21, of a layer norm at k + 24; softmax: exponentials, sum and reciprocal, last
              pass at k + 17
    last pass softmax: its result is written 6 steps later; the others: as many as their operators have stages, and 2; that of
              elementwise, which has only this pass, 1 + AddLatency + NarrowLatency cycles later

A pass takes its rows in order. It waits for beats, for the pass before, for the last pass 64 rows back, for room among the stored
exponentials (a row of MaxToken, and 64 beats), and for the writer (64 beats; elementwise: 32). So for every beat

    take = the next step that is not before: the take before + a step; the beat's arrival; what the row waits for

and the commit comes 5 cycles after the last result. Latch, check and start take 15 cycles (14 for elementwise). All this is
simulated beat by beat; after the first `FOLLOWED` beats the rate of their second half is used. With timed memory the simulation
uses the DRAM's controller (`fleet.sdk.dram_port`) for `PHASES` phases of its refresh. tests/sets/hbm0923/test_unit_timing.py
compares the model with the RTL.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace
from functools import lru_cache
from typing import Literal, NamedTuple

from fleet.sdk import Device
from fleet.sdk.dram import Dram, dram
from fleet.sdk.dram_port import IdealPort, TimedPort
from fleet.sets.hbm0923.cycles.streams import MAX_BURST, Channel, StreamReader, flat_bursts, row_bursts, surface_bursts
from fleet.sets.hbm0923.mvm_operands import PIXEL_BYTES, ceil_div
from fleet.sets.hbm0923.units.feature import FeatureTensor

Memory = Literal["ideal", "timed"]
Kind = Literal["norm", "layer norm", "softmax", "pos_emb", "act", "elementwise"]

FOLLOWED, FOLLOWED_TIMED = 640, 3072
"""Result beats that are simulated one by one (and whole rows, at least three). With timed memory, reads may run ahead until the
ring is full, then DDR limits the rate: the second half must lie after that point.
"""
PHASES, PHASES_OF_SHORT, PHASES_OF_LONG = 16, 64, 4
"""Phases of DDR's refresh for the mean, evenly spread: a stream uses one port. An instruction of more than FOLLOWED beats meets
several refreshes. One of up to SHORT beats meets one in about every tenth phase, which then costs as much as the whole instruction:
16 phases would contain just one such phase, whatever its offset.
"""
SHORT = 128
CHECK, CHECK_OF = 12, {"elementwise": 11}
"""Cycles of the check, including the hand-over. Steps are counted from its first cycle."""
START = 3
"""Cycles before the check: start, latch, and the one in which the unit is told."""
COMMIT = 2
"""Cycles from the last answer to the commit."""
ROWS, WRITES, WRITES_OF = 64, 64, {"elementwise": 32}
"""Rows in progress; beats on their way to memory."""
AFTER_MAXIMUM = 6
AFTER_SUM = {"norm": 21, "layer norm": 24, "softmax": 17}
SCALED = 6
"""Steps from a beat's take to its result, of softmax."""
PIECE, DEVIATION = 3, 8
"""Steps of the last pass that only act, and only a layer norm has."""


class UnitPort(NamedTuple):
    """A port of a space ("ddr" or "hbm"). timing: None for ideal memory."""

    timing: Dram | None
    core_mhz: float
    space: str

    def ports(self, phases: int = PHASES) -> Iterator[IdealPort | TimedPort]:
        """Yield a port for each phase."""
        if self.timing is None:
            yield IdealPort()
            return
        for i in range(phases):
            # A refresh that began before the instruction may still run.
            phase = (2 * i + 1) * self.timing.t_refi // (2 * phases) - self.timing.t_refi
            yield TimedPort(self.timing, self.space, self.core_mhz, phase)


def port_of(device: Device, memory: Memory, space: str = "ddr") -> UnitPort:
    """Return the port of a space. Raises DeviceError if the device has no timing tables."""
    return UnitPort(dram(device, space) if memory == "timed" else None, device.clock_mhz, space)


def answer(device: Device, space: str, memory: Memory) -> int:
    """Return the cycles by which a write's answer comes later than with ideal memory."""
    if memory == "ideal":
        return 0
    d = dram(device, space)
    return ceil_div(round(d.request * 1000 * device.clock_mhz), d.clock_khz) - 1


def phases_of(beats: int) -> int:
    """Return the number of phases for an instruction of so many beats."""
    return PHASES_OF_SHORT if beats <= SHORT else PHASES if beats <= FOLLOWED else PHASES_OF_LONG


class UnitPlan(NamedTuple):
    """One instruction.

    side: second input or coefficients. side_beats: of contiguous coefficients, 0 if they are a feature. resident: every line starts
    again at the first coefficient. lanes: channels that count in a line's first row; with the mask (causal), one more per row.
    """

    kind: Kind
    source: FeatureTensor
    destination: FeatureTensor
    side: FeatureTensor | None = None
    side_beats: int = 0
    resident: bool = False
    lanes: int = 0
    causal: bool = False


class _Sizes(NamedTuple):
    interval: int
    latency: int  # cycles from a beat's take to its result
    ring: int
    coefficients: int
    exponentials: int


def _sizes(device: Device, kind: Kind) -> _Sizes:
    p = device.parameters
    row = max(p["MaxChannels"], p["MaxToken"]) // 32

    def power(n: int) -> int:
        return 1 << (max(n, 1) - 1).bit_length()

    return _Sizes(
        p["SfuInterval"],
        _latency(kind, p),
        power(max(2 * row, 4 * MAX_BURST)),
        power(max(p["MaxChannels"] // 16, 4 * MAX_BURST)),
        power(ceil_div(p["MaxToken"], 32) + ROWS),
    )


def _latency(kind: Kind, p: Mapping[str, int]) -> int:
    """Return the cycles from a beat's take to its result: a product by a binary32 takes a step more than one by an FP16."""
    scale, end = p["ScaleLatency"], 1 + p["AddLatency"] + p["NarrowLatency"]
    if kind == "elementwise":
        return end
    norm = 2 * scale + 1 + end
    steps = {
        "softmax": SCALED, "norm": norm, "layer norm": DEVIATION + norm, "pos_emb": scale + 1 + end, "act": PIECE + scale + end,
    }  # fmt: skip
    return p["SfuInterval"] * steps[kind]


def coefficient_beats(device: Device) -> int:
    """Return the beats of the SFU's coefficient buffer."""
    return _sizes(device, "pos_emb").coefficients


def plan_cycles(device: Device, plan: UnitPlan, memory: Memory = "ideal") -> int:
    """Return the cycles from start to commit; with "timed" the mean over the phases.

    Raises DeviceError if there are no timing tables for "timed".
    """
    if memory == "ideal":  # of a tensor's address only the offset in a window of bursts matters
        side = None if plan.side is None else _in_window(plan.side)
        plan = plan._replace(source=_in_window(plan.source), destination=_in_window(plan.destination), side=side)
    return _cycles(plan, _sizes(device, plan.kind), port_of(device, memory))


def _in_window(f: FeatureTensor) -> FeatureTensor:
    return replace(f, base=f.base % (MAX_BURST * PIXEL_BYTES))


@lru_cache(maxsize=4096)
def _cycles(plan: UnitPlan, sizes: _Sizes, port: UnitPort) -> int:
    beats = plan.source.lines * plan.source.tokens * plan.source.surfaces
    most = FOLLOWED if port.timing is None else FOLLOWED_TIMED
    found = [_Unit(plan, sizes, p, most).run() for p in port.ports(phases_of(beats))]
    return round(START + _check(plan) + COMMIT + sum(found) / len(found))


def _check(plan: UnitPlan) -> int:
    return CHECK_OF.get(plan.kind, CHECK)


class _Unit:
    """Simulates one instruction."""

    def __init__(self, plan: UnitPlan, sizes: _Sizes, port: IdealPort | TimedPort, most: int) -> None:
        self._plan, self._sizes, self._most = plan, sizes, most
        src = plan.source
        self._by_surface = plan.kind in {"pos_emb", "act", "elementwise"}
        self._counts = self._row_counts()
        data = StreamReader(
            surface_bursts(src) if self._by_surface else row_bursts(src, self._counts),
            128 if plan.kind == "elementwise" else sizes.ring,
            src.onchip,
        )
        readers = [data]
        if plan.side is not None:
            side = plan.side
            if plan.side_beats:
                bursts = flat_bursts(side.base, plan.side_beats)
            else:
                bursts = surface_bursts(replace(side, lines=1) if plan.resident else side)
            readers.append(StreamReader(bursts, 128 if plan.kind == "elementwise" else sizes.coefficients, side.onchip))
        self._readers = readers
        self._channel = Channel(port, readers, out_onchip=plan.destination.onchip)
        self._results: list[int] = []  # cycles in which the last pass took its beats
        self._addresses = surface_addresses(plan.destination) if self._by_surface else row_addresses(plan.destination)

    def _row_counts(self) -> list[int]:
        """Return the beats of a line's rows, as they are read."""
        src, plan = self._plan.source, self._plan
        if not plan.causal:
            return [src.surfaces] * src.tokens
        return [ceil_div(plan.lanes + w, 32) for w in range(src.tokens)]

    def run(self) -> float:
        """Return the cycle of the last answer."""
        total = self._plan.source.lines * self._plan.source.tokens * self._plan.source.surfaces
        self._by_beat() if self._by_surface else self._by_row()
        last = len(self._results) - 1
        end = self._channel_end(last)
        if last + 1 == total:
            return end
        half = last // 2
        return end + (total - 1 - last) * (self._results[last] - self._results[half]) / (last - half)

    def _channel_end(self, last: int) -> int:
        self._channel.data_taken(last)
        return self._channel.answered

    def _step(self, cycle: int) -> int:
        """Return the first step that is not before `cycle`."""
        return cycle + -(cycle + _check(self._plan)) % self._sizes.interval

    def _result(self, take: int) -> None:
        """Record that the last pass takes a beat."""
        self._results.append(take)
        self._channel.write(take + self._sizes.latency, next(self._addresses))

    def _room(self) -> int:
        """Return the cycle from which the writer has room for the next result."""
        i = len(self._results) - WRITES_OF.get(self._plan.kind, WRITES)
        return self._channel.data_taken(i) + 1 if i >= 0 else 0

    def _by_beat(self) -> None:
        plan, src, n = self._plan, self._plan.source, self._sizes.interval
        line = src.surfaces * src.tokens
        take = -n
        for i in range(min(src.lines * line, self._most)):
            here = self._channel.beat(0, i)
            if plan.kind == "act":
                here = max(here, self._channel.beat(1, 1))
            elif plan.side is not None:
                here = max(here, self._channel.beat(1, i % line if plan.resident else i))
            take = self._step(max(take + n, here, self._room()))
            self._readers[0].pop(take)
            if plan.side is not None and plan.kind != "act" and not plan.resident:
                self._readers[1].pop(take)
            self._result(take)

    def _by_row(self) -> None:
        plan, src, n = self._plan, self._plan.source, self._sizes.interval
        channel, ring = self._channel, self._readers[0]
        softmax = plan.kind == "softmax"
        a = b = c = -n
        read = kept = 0  # beats read, exponentials
        stored: list[int] = []  # cycles in which the last pass took an exponential
        popped: list[int] = []  # cycles in which it took a row's last beat
        for row in range(src.lines * src.tokens):
            if len(self._results) >= self._most and row >= 3:
                return
            beats = self._counts[row % src.tokens]
            begin = popped[row - ROWS] + 1 if row >= ROWS else 0
            if softmax:
                for i in range(beats):
                    a = self._step(max(a + n, channel.beat(0, read + i), begin))
                begin = a + AFTER_MAXIMUM * n
            for i in range(beats):
                room = stored[kept - self._sizes.exponentials] + 1 if softmax and kept >= self._sizes.exponentials else 0
                b = self._step(max(b + n, begin, channel.beat(0, read + i), room))
                if softmax:
                    ring.pop(b)
                    kept += 1
            begin = b + AFTER_SUM[plan.kind] * n
            for i in range(src.surfaces):
                ready = 0 if softmax else channel.beat(0, read + i)
                if plan.side is not None:
                    ready = max(ready, channel.beat(1, 2 * i + 1))
                c = self._step(max(c + n, begin, ready, self._room()))
                if not softmax:
                    ring.pop(c)
                elif i < beats:
                    stored.append(c)
                self._result(c)
            popped.append(c)
            read += beats


def row_addresses(f: FeatureTensor) -> Iterator[int]:
    """Yield the addresses of beats, token by token."""
    for h in range(f.lines):
        for w in range(f.tokens):
            for s in range(f.surfaces):
                yield f.base + h * f.line + w * 64 + s * f.surface


def surface_addresses(f: FeatureTensor) -> Iterator[int]:
    """Yield the addresses of beats, surface by surface."""
    for h in range(f.lines):
        for s in range(f.surfaces):
            for w in range(f.tokens):
                yield f.base + h * f.line + w * 64 + s * f.surface
