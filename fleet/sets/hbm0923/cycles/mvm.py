"""Cycles of an MVM instruction with ideal memory, from the device's parameters.

The model is a pipeline of streams that overlap: activations from DDR into the data buffer, weights from HBM into the port
FIFOs and the weight buffer, the array. Outputs leave at one a cycle, never later than the array makes them. With

    blocks  = ceil(CHout / Tout)         channels that a port delivers
    beats   = channel bytes / 32         cycles in which a port delivers one channel
    pixels  = ceil(CHin / 32)            DDR beats of a token
    token   = ceil(CHin / lanes)         cycles of the array for a token and a block: beats of 64 lanes, of 32 with groups of 32
    chunk   = 4 to 32 tokens             loaded together, surface by surface: at most 32 beats of the array or 4 tokens; the
                                         last chunks shrink to single tokens
    load    = W * pixels + operands      cycles until the last activation; operands are the batch norm's words and the residual
                                         pixels that go before it
    ring    = WtDepth * Tin / 64 + PortFifoDepth   weight beats that are fetched ahead

the first block ends soon after the load: of every chunk the array follows the first token as its surfaces come, and does the
others after it. Every block ends later if its weights come late: its first ones behind their scales, or its last ones, not
counting padding (`_block_behind_weights`, behind). The streams end, counted from the first request, at

    array     first + (blocks - 1) * W * token
    weights   behind + (blocks - 1) * beats, or first + (blocks - 1) * beats - ring where the ring fills up in the first block
    reads     W * pixels + all operands, a residual pixel for each of the blocks that share it

and the latest of them, plus the indices of argmax, plus constants, is the cost. Where a residual's reads compete with those of
activations, an instruction of up to `FOLLOWED` beats is followed beat by beat instead (`mvm_followed`). Compared with the RTL in
tests/sets/hbm0923/test_timing.py.
"""

from __future__ import annotations

from typing import NamedTuple

from fleet.sdk import Device
from fleet.sets.hbm0923.cycles.mvm_followed import FollowedPlan, Stream, last_issue
from fleet.sets.hbm0923.mvm_operands import BEAT_BYTES, PIXEL_BYTES, PIXEL_LANES, MvmFields, ceil_div, channel_bytes
from fleet.sets.hbm0923.ranges import bn_bytes

ARRAY_LANES = 64
"""Codes that a port delivers in a cycle."""
CHUNK_LANES, MIN_CHUNK, MAX_CHUNK = 2048, 4, 32
"""Tokens are loaded together up to so many lanes, rounded down to a power of two, and from and up to so many tokens."""
OPERAND_BURST = 16
"""DDR beats of batch norm or residual that are asked for ahead of activations."""
BN_BEATS = 2
"""DDR beats of 32 channels' batch norm."""
FOLLOWED, FIRST_ISSUE = 2048, 4
"""Beats of activations and of the array that are followed one by one; the cycle that is 0 here."""
PAGE = 4096
"""Bytes that no burst crosses."""
MIN_GROUP = 32
"""Inputs that share a scale, at least."""
SCALES_FREED = 6
"""Cycles from a block's end to the next block, beside those of its first scales, where these could not come before."""
LOAD_AHEAD, BN_RING, RESIDUAL_RING, RESIDUAL_LAG = 256, 32, 64, 24
"""DDR beats of activations that are asked for ahead: behind these the rings of the others fill as well. The residual's frees its
places late: outputs are in the pipeline, and it asks for whole bursts."""


class MvmConstants(NamedTuple):
    """Cycles that do not depend on sizes, as the RTL has them with ideal memory.

    start: from the start write to the first read request (latch, check).
    array: from the last word's issue to its FP16 result, first read latency included.
    write: the last write's response, and the commit.
    weights: more through the port FIFO and the weight buffer than activations take; HBM is asked a cycle before DDR.
    """

    start: int = 13
    array: int = 15
    write: int = 3
    weights: int = 1


CONSTANTS = MvmConstants()


def chunks(chin: int, tokens: int) -> list[int]:
    """Tokens that are loaded together, chunk by chunk. Powers of two; at the end half of what is left."""
    lanes = 1 << (chin - 1).bit_length()
    most = min(MAX_CHUNK, max(MIN_CHUNK, CHUNK_LANES // lanes))
    chunks: list[int] = []
    while tokens:
        chunks.append(min(most, 1 << ((tokens + 1) // 2).bit_length() - 1))
        tokens -= chunks[-1]
    return chunks


def operands_before(o: MvmFields, blocks: int) -> int:
    """DDR beats of batch norm and residual that go before the last activation."""
    long = o.tokens * o.in_surfaces > LOAD_AHEAD
    if o.tokens == 1 and not long:
        return 0  # they follow
    beats = 0
    if o.bn is not None:
        ahead = OPERAND_BURST - o.bn // PIXEL_BYTES % OPERAND_BURST
        if ahead < OPERAND_BURST:
            ahead += OPERAND_BURST  # less than a whole burst is too little
        beats = min(BN_RING if long else ahead, bn_bytes(o.chout) // PIXEL_BYTES)
    if o.residual is not None:
        used = o.tokens - 1
        ahead = RESIDUAL_RING + used - RESIDUAL_LAG if long else OPERAND_BURST * (1 + used // OPERAND_BURST)
        beats += min(blocks * o.tokens, ahead)
    return beats


def _halves(o: MvmFields) -> int:
    """Cycles of the array for a token's last beat."""
    return 2 if o.tblk < ARRAY_LANES and (o.chin - 1) % ARRAY_LANES >= o.tblk else 1


def _first_block(o: MvmFields, load: int, token: int) -> int:
    """When the array ends the first block of output channels; `load`: when the last activation is there."""
    halves = _halves(o)
    ends, here = 0, load - o.tokens * o.in_surfaces
    for chunk in chunks(o.chin, o.tokens):
        here += chunk * o.in_surfaces
        # Of a single token the beat before, which takes two cycles too, has just come.
        last_beat = 2 if chunk == 1 and o.tblk < ARRAY_LANES < o.chin else halves
        ends = max(ends + token, here - chunk + last_beat) + (chunk - 1) * token
    return ends


def single_output(o: MvmFields, pixels: int) -> int:
    """When the first block of a single token has what its outputs need beside the activations, which come first."""
    if o.tokens > 1 or o.bn is None:
        return 0
    beats = bn_bytes(o.chout) // PIXEL_BYTES
    if o.residual is None:
        return pixels + BN_BEATS
    return pixels + min(OPERAND_BURST - o.bn // PIXEL_BYTES % OPERAND_BURST, beats) + 1


def block_weights(device: Device, o: MvmFields) -> tuple[int, int]:
    """Beats of a block that a port delivers: scales before the first codes, and all up to the last codes that are used."""
    p = device.parameters
    group = p["TgroupCh"]
    scales = ceil_div(ceil_div(min(o.chin, group), o.tblk), BEAT_BYTES // 2)
    rest = (o.chin - 1) % group + 1
    padding = ceil_div(rest, p["Tin"]) * p["Tin"] // ARRAY_LANES - ceil_div(rest, ARRAY_LANES)
    return scales, channel_bytes(device, o.chin, o.tblk) // BEAT_BYTES - padding


def _block_behind_weights(device: Device, o: MvmFields, token: int) -> int:
    """Cycles from a block's first beat out of the ports to its end, weights being the last to come.

    The array begins with the first codes, behind their scales, or waits for the last ones that it needs, not for the padding.
    """
    scales, needed = block_weights(device, o)
    return max(scales + o.tokens * token, needed + _halves(o) - 1 + (o.tokens - 1) * token)


def _scale_ring(device: Device) -> int:
    """Beats of scales that a port's buffer holds."""
    p = device.parameters
    return ceil_div(p["WtDepth"] * p["Tin"], p["TgroupCh"]) * (p["TgroupCh"] // MIN_GROUP // (BEAT_BYTES // 2))


def _scales(device: Device, o: MvmFields) -> tuple[int, ...]:
    """Beats of scales before each lot of codes of a channel."""
    group = device.parameters["TgroupCh"]
    sizes = [min(group, o.chin - at) for at in range(0, o.chin, group)]
    return tuple(ceil_div(ceil_div(n, o.tblk), BEAT_BYTES // 2) for n in sizes)


def _scales_late(device: Device, o: MvmFields) -> int:
    """Cycles between blocks where the ring of scales, as long as the one of codes, has no room for the next block's first ones.

    The array reads a block's last scales behind its end; then the first ones leave the ports.
    """
    scales = _scales(device, o)
    return SCALES_FREED + scales[0] if sum(scales) + scales[0] > _scale_ring(device) else 0


def _plan(device: Device, o: MvmFields) -> FollowedPlan:
    """What `mvm_followed` follows. Where in a page a tensor begins is all that matters of its address."""
    p = device.parameters
    source, _, second = o.spaces
    assert o.residual is not None
    return FollowedPlan(
        tokens=o.tokens,
        surfaces=o.in_surfaces,
        chunks=tuple(chunks(o.chin, o.tokens)),
        blocks=ceil_div(o.chout, p["Tout"]),
        sharing=PIXEL_LANES // p["Tout"],
        beats=ceil_div(o.chin, ARRAY_LANES),
        long=(2, _halves(o)) if o.tblk < ARRAY_LANES else (1, 1),
        scales=_scales(device, o),
        codes=ceil_div(o.chin, p["Tin"]) * p["Tin"] // ARRAY_LANES,
        ring=p["WtDepth"] * p["Tin"] // ARRAY_LANES,
        scale_ring=_scale_ring(device),
        input=Stream(o.input % PAGE, o.in_surface, source == "onchip"),
        bn=(0, 0) if o.bn is None else (o.bn % PAGE, bn_bytes(o.chout) // PIXEL_BYTES),
        residual=Stream(o.residual % PAGE, o.out_surface, second == "onchip"),
    )


def mvm_cycles(device: Device, o: MvmFields, constants: MvmConstants = CONSTANTS) -> int:
    """Cycles from start to commit."""
    p = device.parameters
    blocks = ceil_div(o.chout, p["Tout"])
    beats = channel_bytes(device, o.chin, o.tblk) // BEAT_BYTES
    token = ceil_div(o.chin, min(ARRAY_LANES, o.tblk))
    pixels = o.tokens * o.in_surfaces
    around = constants.start + constants.array + constants.write
    tail = o.tokens + ceil_div(o.tokens, PIXEL_BYTES // 4) + 2 if o.argmax is not None else 0
    if o.residual is not None and pixels + blocks * o.tokens * ceil_div(o.chin, ARRAY_LANES) <= FOLLOWED:
        return around + last_issue(_plan(device, o)) - FIRST_ISSUE + tail
    first = max(_first_block(o, pixels + operands_before(o, blocks), token), single_output(o, pixels))
    behind = constants.weights + _block_behind_weights(device, o, token)
    first = max(first, behind)
    array = first + (blocks - 1) * (o.tokens * token + _scales_late(device, o))
    ring = p["WtDepth"] * p["Tin"] // ARRAY_LANES + p["PortFifoDepth"]
    weights = max((blocks - 1) * beats + behind, first + (blocks - 1) * beats - ring + constants.weights)
    reads = pixels
    reads += bn_bytes(o.chout) // PIXEL_BYTES if o.bn is not None else 0
    reads += o.tokens * blocks if o.residual is not None else 0
    return around + max(array, weights, reads) + tail


def mvm_macs(device: Device, o: MvmFields) -> tuple[int, int]:
    """(useful, issued) multiply-accumulates."""
    tin, tout = device.parameters["Tin"], device.parameters["Tout"]
    return o.tokens * o.chin * o.chout, o.tokens * ceil_div(o.chin, tin) * tin * ceil_div(o.chout, tout) * tout
