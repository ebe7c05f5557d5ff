"""Cycles of an MVM instruction with timed memory, expected over the phases of the refreshes.

The streams are those of `fleet.isa.hbm0923.timing`; DRAM (the device's timing tables) changes when they move:

    latency    the first beat comes request + t_rcd + cl + burst clocks after it is asked for, later ones t_rcd less; rows of a
               stream open ahead
    refresh    a port stands still for t_rp + t_rfc + t_rcd every t_refi, less what its return buffer holds
    port       asks for a burst when its FIFO has room for it, so that a shallow FIFO is bound by the latency; a port that fell
               behind can be behind by its FIFO, then all ports wait for it
    ring       pops of all ports in step fill it as far as the array has freed it
    DDR        a beat a cycle at most; less where bursts are short and their stride stays in a bank group, or in a bank, whose rows
               then follow each other (`fleet.isa.dram_port.clocks_a_beat`); reads, residual and results share the bus, which turns
               for every batch of writes

The ports' streams are followed burst by burst, for a few sets of phases at a time.
"""

from __future__ import annotations

from functools import lru_cache
from typing import NamedTuple

import numpy as np

from fleet.isa.contract import Device
from fleet.isa.dram import BEAT_BYTES, Dram, dram
from fleet.isa.dram_port import clocks_a_beat
from fleet.isa.hbm0923.operands import PIXEL_BYTES, Operands, ceil_div, channel_bytes
from fleet.isa.hbm0923.ranges import bn_bytes
from fleet.isa.hbm0923.timing import ARRAY_LANES, CONSTANTS, chunks, operands_before

__all__ = ["PHASES", "PortRates", "Refreshes", "drawn_phases", "port_rates", "timed_cycles"]

PHASES = 16
"""Sets of refresh phases that the expectation is taken over."""
BURST = 16
"""Beats that an HBM port asks for at once."""
FOLLOWED_BURSTS = 64
"""Bursts of activations whose rate is that of all."""
_TURN = 4  # cycles from a place that becomes free in a port's FIFO to its next beat's pop, beside the memory's latency
_Times = np.ndarray  # binary64, one time a set of phases: cycles after the first request


class PortRates(NamedTuple):
    """A memory in cycles of the core."""

    first: float  # from a request to its first beat, no row open
    hit: float  # the same, row open
    beat: float  # between beats
    refresh: float  # how long one stops the stream
    every: float
    clocks: int  # the same in clocks of the memory
    buffer: int
    response: float  # from a write's last beat to its answer
    turn: float  # what a batch of writes costs beside its beats
    batch: int
    patience: float  # after which writes are no longer gathered to a batch
    writes: int  # that may wait in the controller


def port_rates(d: Dram, core_mhz: float) -> PortRates:
    """A timing table in cycles of the core."""
    cycles = 1000 * core_mhz / d.clock_khz
    hit = (d.request + d.cl + d.burst) * cycles
    return PortRates(
        first=hit + d.t_rcd * cycles,
        hit=hit,
        beat=d.burst * cycles,
        refresh=(d.t_rp + d.t_rfc + d.t_rcd) * cycles,
        every=d.t_refi * cycles,
        clocks=d.t_refi,
        buffer=d.return_beats,
        response=d.request * cycles,
        turn=(d.turn + d.t_wtr_l + d.cl) * cycles,
        batch=d.write_batch,
        patience=d.write_wait * cycles,
        writes=d.write_beats,
    )


def drawn_phases(ports: int, memory: PortRates, sets: int = PHASES) -> np.ndarray:
    """(sets, ports): start of the first refresh from time 0 on, as the first seeds of `--memory timed` draw them.

    Spread evenly they would cost more: ports that happen to refresh together stop all of them only once.
    """
    mask = (1 << 64) - 1

    def draw(seed: int, port: int) -> int:
        z = (seed + 0x51ED270B * (port + 1) + 0x9E3779B97F4A7C15) & mask  # SplitMix64, as in rtl_models/memory/timing.cpp
        z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9 & mask
        z = (z ^ (z >> 27)) * 0x94D049BB133111EB & mask
        return z ^ (z >> 31)

    return np.array([[draw(seed, port) % memory.clocks for port in range(ports)] for seed in range(sets)]) * (
        memory.every / memory.clocks
    )


class Refreshes:
    """Moves the times of a stream behind refreshes; one stream an element of `start`."""

    def __init__(self, start: np.ndarray, memory: PortRates) -> None:
        # One that began before time 0 may still run.
        self._next = np.where(start > memory.every - memory.refresh, start - memory.every, start)
        self.port_rates = memory

    def delay(self, begins: np.ndarray, ends: np.ndarray) -> np.ndarray:
        """How much later what moves from `begins` to `ends` is done."""
        m, late = self.port_rates, np.zeros_like(ends)
        while True:
            due = self._next < ends + late
            if not due.any():
                return late
            late = np.where(due, late + np.maximum(0, self._next + m.refresh - np.maximum(self._next, begins + late)), late)
            self._next = np.where(due, self._next + m.every, self._next)


@lru_cache(maxsize=256)
def _streams(
    hbm: PortRates, ports: int, fifo: int, ring: int, blocks: int, beats: int, tokens: int, token: int, first: tuple[float, ...]
) -> tuple[float, ...]:
    """When the array ends its last block, for every set of phases; `first`: the first block, weights at hand."""
    refreshes = Refreshes(drawn_phases(ports, hbm), hbm)
    total = blocks * beats
    bursts = ceil_div(total, BURST)
    held, kept = fifo // BURST, max(1, hbm.buffer // BURST)
    zero = np.zeros((PHASES, ports))
    ready, taken = zero, [zero]  # last beat of a burst in the return buffer, at the port
    popped = [np.zeros(PHASES)]  # last beat of a burst out of all ports' FIFOs
    ends: list[_Times] = []
    array = np.asarray(first) - tokens * token
    for j in range(bursts):
        size = min(BURST, total - j * BURST)
        asked = zero if j < held else (popped[j + 1 - held] + _TURN)[:, None]
        begins = np.maximum(asked + (hbm.first if j == 0 else hbm.hit), ready)
        if j >= kept:
            begins = np.maximum(begins, taken[j - kept + 1] - size)
        done = begins + size * hbm.beat
        ready = done + refreshes.delay(begins, done)
        # The core takes what comes out of the buffer a beat a cycle.
        taken.append(np.maximum(np.maximum(taken[-1], begins) + size, ready + 1))
        pop = np.maximum(taken[-1].max(axis=1), popped[-1] + size)
        needs = j * BURST + size - ring
        if needs > 0 and needs // beats < len(ends):
            pop = np.maximum(pop, ends[needs // beats] - token * (1 - needs % beats / beats))
        popped.append(pop)
        while len(ends) < blocks and (len(ends) + 1) * beats <= j * BURST + size:
            last = pop - (j * BURST + size - (len(ends) + 1) * beats)
            array = np.maximum(array + tokens * token, last + CONSTANTS.weights + (tokens - 1) * token)
            ends.append(array)
    return tuple(float(x) for x in ends[-1])


@lru_cache(maxsize=1024)
def _chunk_rate(d: Dram, core_mhz: float, chunk: int, surfaces: int, stride: int) -> float:
    """Cycles from beat to beat of activations in chunks of so many tokens. Strides may stay in a bank group, or in a bank."""
    count = FOLLOWED_BURSTS
    bursts = [(i // surfaces * chunk * PIXEL_BYTES + i % surfaces * stride, chunk) for i in range(count)]
    return clocks_a_beat(d, "ddr", bursts) * 1000 * core_mhz / d.clock_khz


def _loads(o: Operands, d: Dram, core_mhz: float, token: int, before: int) -> _Times:
    """When the array can have done the first block, for every set of phases."""
    # Of one port the phases are spread evenly.
    ddr = port_rates(d, core_mhz)
    refreshes = Refreshes((np.arange(PHASES) + 0.5) / PHASES * ddr.every, ddr)
    here = np.full(PHASES, ddr.first - 1)
    ends = np.zeros(PHASES)
    outputs, waiting = 0, -ddr.batch  # results of the chunk before; of these, what is written meanwhile
    for index, chunk in enumerate(chunks(o.chin, o.tokens)):
        rate = _chunk_rate(d, core_mhz, chunk, o.in_surfaces, o.in_surface)
        beats = chunk * o.in_surfaces + (before if index == 0 else 0)
        waiting += outputs
        writes = max(0, min(outputs, waiting))
        gathered = min(ddr.batch, max(1.0, outputs * ddr.patience / (beats * rate)))
        done = here + np.maximum(beats, beats * rate + writes * (ddr.beat + ddr.turn / gathered))
        outputs = chunk
        here = done + np.maximum(0, refreshes.delay(here, done) - (ddr.buffer if index else 0))
        ends = np.maximum(ends + token, here - chunk + 1) + (chunk - 1) * token
    return ends


def timed_cycles(device: Device, o: Operands) -> int:
    """Cycles from start to commit with `--memory timed`, the mean over refresh phases.

    Raises DeviceError when the device has no timing tables.
    """
    p = device.parameters
    hbm, ddr = (port_rates(dram(device, space), device.clock_mhz) for space in ("hbm", "ddr"))
    blocks = ceil_div(o.chout, p["Tout"])
    beats = channel_bytes(device, o.chin, o.tblk) // BEAT_BYTES["hbm"]
    token = ceil_div(o.chin, min(ARRAY_LANES, o.tblk))
    first = _loads(o, dram(device, "ddr"), device.clock_mhz, token, operands_before(o, blocks))
    ring = p["WtDepth"] * p["Tin"] // ARRAY_LANES + p["PortFifoDepth"]
    array = np.array(
        _streams(hbm, p["HbmPorts"], p["PortFifoDepth"], ring, blocks, beats, o.tokens, token, tuple(float(x) for x in first))
    )
    reads = o.tokens * o.in_surfaces + (bn_bytes(o.chout) // PIXEL_BYTES if o.bn is not None else 0)
    reads += o.tokens * blocks if o.residual is not None else 0
    writes = max(0, o.tokens * blocks - ddr.writes)
    turns = writes / ddr.batch * ddr.turn if o.residual is not None else 0  # else few reads are left beside the writes
    bus = ddr.first + ((reads + writes) * ddr.beat + turns) / (1 - ddr.refresh / ddr.every)
    tail = o.tokens + ceil_div(o.tokens, PIXEL_BYTES // 4) + 2 if o.argmax is not None else 0
    streams = float(np.maximum(array, bus).mean())
    return round(CONSTANTS.start + CONSTANTS.array + CONSTANTS.write + streams + ddr.response + tail)
