"""Simulates a short MVM instruction with a residual beat by beat with ideal memory: its operands compete with its activations.

Cycle 0 is the one in which the unit is told to run. The model covers the three readers of hbm0923_mvm_reads, the urgent ones first,
with the hub behind them (`fleet.sets.hbm0923.cycles.streams`); hbm0923_wt_buffer, which takes one beat of all ports per cycle; and
hbm0923_mvm_issue. Outputs free the places of their operands when they pass the epilogue. Their results always find room.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import lru_cache
from typing import NamedTuple

from fleet.sdk.dram_port import IdealPort
from fleet.sets.hbm0923.cycles.streams import Burst, Channel, StreamReader, flat_bursts
from fleet.sets.hbm0923.mvm_operands import PIXEL_BYTES

DAT_RING, BN_RING, RES_RING = 256, 32, 64
DAT_BURST, OPERAND_BURST = 64, 16
FIRST_WEIGHT = 4
"""Cycle in which the first beat leaves the ports; it can be used two cycles later."""
GROUP_BEATS = 32
"""Beats of codes that follow one set of scales."""


class Stream(NamedTuple):
    """Place of an operand: first pixel, stride in bytes between surfaces."""

    base: int
    stride: int
    onchip: bool


class FollowedPlan(NamedTuple):
    """An instruction's sizes.

    surfaces: of activations. chunks: tokens that are loaded together. sharing: blocks of outputs per surface. beats: of the array
    per token, and of codes. scales: their beats before each `GROUP_BEATS`. ring, scale_ring: beats that the
    buffers hold. bn: address and beats, 0 without. operands_leave: cycles from an output's issue until its operands leave their
    rings. scales_free: from a block's end until its scales have freed their places.
    """

    tokens: int
    surfaces: int
    chunks: tuple[int, ...]
    blocks: int
    sharing: int
    beats: int
    scales: tuple[int, ...]
    ring: int
    scale_ring: int
    input: Stream
    bn: tuple[int, int]
    residual: Stream
    operands_leave: int
    scales_free: int


class _Reads(Channel):
    """Activations, batch norm and residual. The first chunk without its last surface has priority, then streams that run low."""

    def __init__(self, p: FollowedPlan) -> None:
        self.dat = StreamReader(_activations(p), DAT_RING, p.input.onchip)
        self.bn = StreamReader(flat_bursts(*p.bn, OPERAND_BURST), BN_RING)
        self.res = StreamReader(_residual(p), RES_RING, p.residual.onchip)
        super().__init__(IdealPort(), [self.dat, self.bn, self.res])
        chunk = p.chunks[0]
        self._asked, self._chunk = 0, chunk * p.surfaces
        self._urgent = self._chunk if p.tokens == 1 else self._chunk - chunk

    def choose(self, asking: list[int]) -> int:
        first = self._asked < self._urgent
        if first:
            urgent = [0]
        else:
            rings = ((1, self.bn, BN_RING), (2, self.res, RES_RING))
            urgent = [i for i, reader, ring in rings if reader.free > ring - OPERAND_BURST]
        chosen = next((i for i in urgent if i in asking), asking[0])
        if chosen == 0:
            assert self.dat.next is not None
            self._asked += self.dat.next[1]
        return chosen

    def deliver(self, t: int) -> None:
        before = len(self.dat.ready)
        super().deliver(t)
        for ready in self.dat.ready[before:]:
            self.dat.pop(ready - 1)


def _activations(p: FollowedPlan) -> Iterator[Burst]:
    if p.tokens == 1 and p.input.stride == PIXEL_BYTES:
        yield from flat_bursts(p.input.base, p.surfaces, DAT_BURST)
        return
    at = p.input.base
    for chunk in p.chunks:
        for i in range(p.surfaces):
            yield from flat_bursts(at + i * p.input.stride, chunk, DAT_BURST)
        at += chunk * PIXEL_BYTES


def _residual(p: FollowedPlan) -> Iterator[Burst]:
    for block in range(p.blocks):
        yield from flat_bursts(p.residual.base + block // p.sharing * p.residual.stride, p.tokens, OPERAND_BURST)


class _Weights:
    """The stream from the ports into the buffer."""

    def __init__(self, p: FollowedPlan) -> None:
        self._plan = p
        self._next = FIRST_WEIGHT
        self._here: list[int] = []
        self.freed: list[int] = []
        """Cycles in which a beat of codes is used last."""
        self._scales = 0
        self.ends: list[int] = []
        """Last cycles of the blocks."""

    def here(self, index: int) -> int:
        """Return the cycle from which a beat of codes can be used."""
        p = self._plan
        while len(self._here) <= index:
            at = len(self._here)
            group, beat = divmod(at % p.beats, GROUP_BEATS)
            if beat == 0:
                self._pop_scales(p.scales[group])
            if at >= p.ring:
                self._next = max(self._next, self.freed[at - p.ring] + 1)
            self._here.append(self._next + 2)
            self._next += 1
        return self._here[index]

    def _pop_scales(self, count: int) -> None:
        p = self._plan
        for _ in range(count):
            if self._scales >= p.scale_ring:
                self._next = max(self._next, self.ends[(self._scales - p.scale_ring) // sum(p.scales)] + p.scales_free)
            self._scales += 1
            self._next += 1


@lru_cache(maxsize=1024)
def last_issue(p: FollowedPlan) -> int:
    """Return the cycle in which the last beat goes to the array."""
    reads, weights, places = _Reads(p), _Weights(p), _places(p)
    now = 0
    for output in range(p.blocks * p.tokens):
        block, token = divmod(output, p.tokens)
        surface = block // p.sharing
        last_token = token == p.tokens - 1
        for beat in range(p.beats):
            last = beat == p.beats - 1
            first, stride = places[token]
            pixel = first + min(2 * beat + 1, p.surfaces - 1) * stride
            now = max(now + 1, reads.beat(0, pixel), weights.here(block * p.beats + beat))
            if last:
                now = max(now, reads.beat(2, output), reads.beat(1, 2 * surface + 1) if p.bn[1] else 0)
            if last_token:
                weights.freed.append(now)
        if last_token:
            weights.ends.append(now)
        reads.res.pop(now + p.operands_leave)
        if p.bn[1] and last_token and (block % p.sharing == p.sharing - 1 or block == p.blocks - 1):
            reads.bn.pop(now + p.operands_leave)
            reads.bn.pop(now + p.operands_leave)
    return now


def _places(p: FollowedPlan) -> list[tuple[int, int]]:
    """Return for each token its first pixel in the stream of activations, and the distance to its next pixel."""
    found: list[tuple[int, int]] = []
    first = 0
    for chunk in p.chunks:
        found += [(first + token, chunk) for token in range(chunk)]
        first += chunk * p.surfaces
    return found
