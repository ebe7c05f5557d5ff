"""Cycles of an MVM instruction with timed memory, as the mean over the phases of the refreshes.

The streams are those of `fleet.sets.hbm0923.cycles.mvm`; DRAM (the device's timing tables) changes when they move:

    latency    the first beat comes request + t_rcd + cl + burst clocks after its request, later ones t_rcd earlier, because the
               rows of a stream open ahead
    refresh    a port stops for t_rp + t_rfc + t_rcd every t_refi, less what its return buffer holds
    port       requests a burst when its FIFO has room for it, so the latency limits a shallow FIFO; a port may lag by the depth
               of its FIFO, then all ports wait for it
    ring       pops of all ports in lockstep fill it as far as the array has freed it
    DDR        at most one beat per cycle; less if bursts are short and their stride stays in a bank group, or in a bank, whose
               rows then follow each other (`fleet.sdk.dram_port.clocks_a_beat`); reads, residual and results share the bus, which
               turns for every batch of writes

    on chip    data arrive at one beat per cycle without waiting; the operands of DDR arrive beside them

The ports' streams are simulated burst by burst, for many sets of phases at once.
"""

from __future__ import annotations

from dataclasses import replace
from functools import lru_cache
from itertools import islice
from typing import NamedTuple

import numpy as np

from fleet.sdk import Device
from fleet.sdk.dram import BEAT_BYTES, Dram, dram
from fleet.sdk.dram_phases import drawn_phase
from fleet.sdk.dram_port import clocks_a_batch, clocks_a_beat
from fleet.sets.hbm0923.cycles.mvm import (
    CONSTANTS,
    LOAD_AHEAD,
    argmax_cycles,
    array_steps,
    block_weights,
    chunks,
    first_block,
    mvm_cycles,
    operands_before,
    single_output,
    way,
    weight_ring,
)
from fleet.sets.hbm0923.mvm_operands import PIXEL_BYTES, MvmFields, ceil_div
from fleet.sets.hbm0923.ranges import bn_bytes

SETS, SETS_OF_LONG = 256, 64
"""Sets of refresh phases for the mean: it matters which ports refresh together, and a short instruction meets few refreshes. An
instruction of more than `FOLLOWED_BURSTS` bursts per port meets several, so fewer sets are enough.
"""
BURST = 16
"""Beats that an HBM port requests at once."""
FOLLOWED_BURSTS = 64
"""Bursts of activations whose rate stands for all; see also `SETS`."""
FOLLOWED_READS, MIN_BATCH, RESULTS = 4096, 8, 32
"""Beats of activations among which batches are simulated; minimum results of a batch; results that wait in the writer."""
_TURN = 4  # cycles from a free place in a port's FIFO to its next beat's pop, without the memory's latency
_Times = np.ndarray  # binary64, one time per set of phases: cycles after the first request


class PortRates(NamedTuple):
    """A memory's timing in cycles of the core."""

    first: float  # from a request to its first beat, row closed
    hit: float  # the same, row open
    beat: float  # between beats
    refresh: float  # duration of one, as seen by the stream
    every: float
    clocks: int  # the same in clocks of the memory
    buffer: int
    response: float  # from a write's last beat to its answer
    turn: float  # cost of a batch of writes besides its beats
    batch: int
    patience: float  # after this, writes are no longer gathered into a batch
    writes: int  # maximum number waiting in the controller


def port_rates(d: Dram, core_mhz: float) -> PortRates:
    """Convert a timing table to cycles of the core."""
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


@lru_cache
def drawn_phases(ports: int, memory: PortRates, sets: int = SETS) -> np.ndarray:
    """Return (sets, ports): start of the first refresh from time 0 on, as the first seeds of `--memory timed` draw it.

    Evenly spread phases would cost more: ports that happen to refresh together stop the instruction only once.
    """
    drawn = [[drawn_phase(seed, port, memory.clocks) for port in range(ports)] for seed in range(sets)]
    return np.array(drawn) * (memory.every / memory.clocks)


class Refreshes:
    """Delays the times of a stream by refreshes; one stream per element of `start`."""

    def __init__(self, start: np.ndarray, memory: PortRates) -> None:
        # A refresh that began before time 0 may still run.
        self._next = np.where(start > memory.every - memory.refresh, start - memory.every, start)
        self.port_rates = memory

    def delay(self, begins: np.ndarray, ends: np.ndarray) -> np.ndarray:
        """Return the delay of transfers from `begins` to `ends`."""
        m, late = self.port_rates, np.zeros_like(ends)
        while True:
            due = self._next < ends + late
            if not due.any():
                return late
            late = np.where(due, late + np.maximum(0, self._next + m.refresh - np.maximum(self._next, begins + late)), late)
            self._next = np.where(due, self._next + m.every, self._next)


@lru_cache(maxsize=256)
def _streams(
    hbm: PortRates, ports: int, fifo: int, ring: int, blocks: int, needs: tuple[int, int, int],
    tokens: int, token: int, first: tuple[float, ...],
) -> tuple[float, ...]:  # fmt: skip
    """Return when the array ends its last block, for every set of phases. first: end of the first block if weights do not delay it.

    needs: beats of a block; the scales before its first codes; all beats up to its last used codes.
    """
    sets = len(first)
    refreshes = Refreshes(drawn_phases(ports, hbm, sets), hbm)
    beats, scales, used = needs
    total = blocks * beats
    begun: list[_Times] = []  # first codes of the blocks
    bursts = ceil_div(total, BURST)
    held, kept = fifo // BURST, max(1, hbm.buffer // BURST)
    zero = np.zeros((sets, ports))
    ready, taken = zero, [zero]  # last beat of a burst in the return buffer, at the port
    popped = [np.zeros(sets)]  # last beat of a burst out of all ports' FIFOs
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
        # The core takes one beat per cycle from the buffer.
        taken.append(np.maximum(np.maximum(taken[-1], begins) + size, ready + 1))
        pop = np.maximum(taken[-1].max(axis=1), popped[-1] + size)
        full = j * BURST + size - ring
        if full > 0 and full // beats < len(ends):
            pop = np.maximum(pop, ends[full // beats] - token * (1 - full % beats / beats))
        popped.append(pop)
        come = j * BURST + size
        while len(begun) < blocks and len(begun) * beats + scales < come:
            begun.append(pop - (come - len(begun) * beats - scales))
        while len(ends) < blocks and len(ends) * beats + used <= come:
            last = pop - (come - len(ends) * beats - used)
            array = np.maximum(array, begun[len(ends)] + CONSTANTS.weights) + tokens * token
            array = np.maximum(array, last + CONSTANTS.weights + (tokens - 1) * token)
            ends.append(array)
    return tuple(float(x) for x in ends[-1])


@lru_cache(maxsize=1024)
def _chunk_rate(d: Dram, core_mhz: float, chunk: int, surfaces: int, stride: int) -> float:
    """Return the cycles between beats of activations in chunks of so many tokens. Strides may stay in a bank group or a bank."""
    count = FOLLOWED_BURSTS
    bursts = [(i // surfaces * chunk * PIXEL_BYTES + i % surfaces * stride, chunk) for i in range(count)]
    return clocks_a_beat(d, "ddr", bursts) * 1000 * core_mhz / d.clock_khz


@lru_cache(maxsize=1024)
def _batch(d: Dram, core_mhz: float, chunk: int, surfaces: int, stride: int, tokens: int, output: int, batch: int) -> float:
    """Return the cycles that a batch of results adds to the load of activations; 0 if there are too few results.

    output: offset of the output from the input. Results lag behind the reads requested ahead, the present chunk, the writer's queue
    and the controller's queue. So they meet the reads' bank, or the reads have moved on to another one.
    """
    lag = LOAD_AHEAD + chunk * surfaces + RESULTS + d.write_beats
    bursts = ((t * PIXEL_BYTES + s * stride, chunk) for t in range(0, tokens, chunk) for s in range(surfaces))
    reads = (at + i * PIXEL_BYTES for at, beats in bursts for i in range(beats))
    writes = (output + t * PIXEL_BYTES for t in range(tokens))
    clocks = clocks_a_batch(d, "ddr", islice(reads, FOLLOWED_READS), writes, surfaces, batch, lag)
    return clocks * 1000 * core_mhz / d.clock_khz


def _loads(device: Device, o: MvmFields, token: int, blocks: int, sets: int) -> _Times:
    """Return when the array can end the first block, for every set of phases."""
    d, core_mhz = dram(device, "ddr"), device.clock_mhz
    # With one port, the phases are spread evenly.
    ddr = port_rates(d, core_mhz)
    refreshes = Refreshes((np.arange(sets) + 0.5) / sets * ddr.every, ddr)
    source, destination, second = o.spaces
    own = o if second == "ddr" else replace(o, residual=None)
    before = operands_before(own, blocks)
    pixels = o.tokens * o.in_surfaces
    # With a single token they follow the activations.
    behind = max(0, single_output(own, pixels) - pixels)
    here = np.full(sets, ddr.first - 1)
    if source == "onchip":
        beats = before + behind
        operands = here + beats + refreshes.delay(here, here + beats) if beats else np.zeros(sets)
        return np.maximum(first_block(o, pixels, token), operands)
    ends = np.zeros(sets)
    outputs, waiting = 0, -ddr.batch  # results of the previous chunk; those of them that are written meanwhile
    whole = chunks(o.chin, o.tokens)[0]
    for index, chunk in enumerate(chunks(o.chin, o.tokens)):
        rate = _chunk_rate(d, core_mhz, chunk, o.in_surfaces, o.in_surface)
        beats = chunk * o.in_surfaces + (before if index == 0 else 0)
        waiting += outputs
        writes = max(0, min(outputs, waiting)) if destination == "ddr" else 0
        gathered = min(ddr.batch, max(1.0, outputs * ddr.patience / (beats * rate)))
        shared = writes * (ddr.beat + ddr.turn / gathered)
        if writes and gathered >= MIN_BATCH and chunk == whole:
            batch = round(gathered)
            cost = _batch(d, core_mhz, chunk, o.in_surfaces, o.in_surface, o.tokens, o.output - o.input, batch)
            shared = writes * cost / batch if cost else shared
        done = here + np.maximum(beats, beats * rate + shared)
        outputs = chunk
        # The return buffer hides a part of a refresh if DDR is faster than the core, and so has filled it.
        hidden = ddr.buffer if index and beats * rate + shared <= beats else 0
        here = done + np.maximum(0, refreshes.delay(here, done) - hidden)
        ends = np.maximum(ends + token, here - chunk + 1) + (chunk - 1) * token
    return np.maximum(ends, here + behind)


def timed_cycles(device: Device, o: MvmFields) -> int:
    """Return the cycles from start to commit with `--memory timed`, the mean over refresh phases.

    Raises DeviceError if the device has no timing tables.
    """
    p = device.parameters
    hbm, ddr = (port_rates(dram(device, space), device.clock_mhz) for space in ("hbm", "ddr"))
    source, destination, second = o.spaces
    blocks = ceil_div(o.chout, p["Tout"])
    beats = o.channel_bytes(device) // BEAT_BYTES["hbm"]
    needs = (beats, *block_weights(device, o))
    token = array_steps(o)
    sets = SETS if blocks * beats <= FOLLOWED_BURSTS * BURST else SETS_OF_LONG
    first = _loads(device, o, token, blocks, sets)
    ring = weight_ring(device, o)
    array = np.array(
        _streams(hbm, p["HbmPorts"], p["PortFifoDepth"], ring, blocks, needs, o.tokens, token, tuple(float(x) for x in first))
    )
    residual = o.residual is not None and second == "ddr"
    reads = o.tokens * o.in_surfaces if source == "ddr" else 0
    reads += bn_bytes(o.chout) // PIXEL_BYTES if o.bn is not None else 0
    reads += o.tokens * blocks if residual else 0
    writes = max(0, o.tokens * blocks - ddr.writes) if destination == "ddr" else 0
    turns = writes / ddr.batch * ddr.turn if residual else 0  # else few reads are left besides the writes
    bus = ddr.first + ((reads + writes) * ddr.beat + turns) / (1 - ddr.refresh / ddr.every) if reads + writes else 0
    tail = argmax_cycles(device, o)
    around = way(device, o, CONSTANTS)
    ideal = mvm_cycles(device, o) - around - tail  # the limit with ideal memory applies here too
    streams = float(np.maximum(array, max(bus, ideal)).mean())
    # Indices are in DDR. CONSTANTS.write contains one cycle of an ideal memory's answer.
    response = ddr.response - 1 if destination == "ddr" or o.argmax is not None else 0
    return round(around + streams + response + tail)
