"""Cycles of an MVM instruction with ideal memory, from the device's parameters.

The model is a pipeline of overlapping streams: activations from DDR into the data buffer, weights from HBM into the port FIFOs and
the weight buffer, the array. Outputs leave at one per cycle, and always as fast as the array makes them. With

    blocks  = ceil(CHout / Tout)         channels that a port delivers
    beats   = channel bytes / 32         cycles in which a port delivers one channel
    pixels  = ceil(CHin / 32)            DDR beats of a token
    token   = ceil(CHin / 64)            cycles of the array for a token and a block: beats of 64 lanes; of sparse weights steps of
                                         128 or 256 lanes, each a cycle longer under way
    chunk   = 4 to 32 tokens             loaded together, surface by surface: at most 32 beats of the array or 4 tokens; the
                                         last chunks shrink to single tokens
    load    = W * pixels + operands      cycles until the last activation; operands are the batch norm's words and the residual
                                         pixels that come before it
    ring    = WtDepth * Tin / 64 + PortFifoDepth   weight beats that are fetched ahead; of sparse weights the ring of codes or that
                                         of places is full first

the first block ends soon after the load: of every chunk, the array processes the first token as its surfaces arrive, and the
others after it. A block ends later if its weights are late: its first codes come after their scales, or its last codes limit
it (`_block_behind_weights`, below "behind"). The streams end, counted from the first request, at

    array     first + (blocks - 1) * W * token
    weights   behind + (blocks - 1) * beats, or first + (blocks - 1) * beats - ring if the ring fills up in the first block
    reads     W * pixels + all operands, with one residual pixel for each of the blocks that share it

The cost is the latest of them, plus the indices of argmax, plus constants. If a residual's reads compete with those of activations,
a dense instruction of up to `FOLLOWED` beats is simulated beat by beat instead (`mvm_followed`). tests/sets/hbm0923/test_timing.py
compares the model with the RTL.
"""

from __future__ import annotations

from typing import NamedTuple

from fleet.sdk import Device
from fleet.sets.hbm0923.cycles.mvm_followed import FollowedPlan, Stream, last_issue
from fleet.sets.hbm0923.mvm_operands import (
    BEAT_BYTES,
    BLOCK,
    PIXEL_BYTES,
    PIXEL_LANES,
    MvmFields,
    ceil_div,
    code_beats,
    step_inputs,
)
from fleet.sets.hbm0923.ranges import bn_bytes

ARRAY_LANES = 64
"""Codes that a port delivers per cycle."""
CHUNK_LANES, MIN_CHUNK, MAX_CHUNK = 2048, 4, 32
"""Tokens are loaded together up to this number of lanes, rounded down to a power of two; minimum and maximum number of tokens."""
OPERAND_BURST = 16
"""DDR beats of batch norm or residual that are requested ahead of activations."""
BN_BEATS = 2
"""DDR beats of the batch norm words of 32 channels."""
FOLLOWED, FIRST_ISSUE = 2048, 4
"""Maximum beats of activations and of the array for a beat-by-beat simulation; the RTL's cycle that is its cycle 0."""
PAGE = 4096
"""No burst crosses a multiple of this number of bytes."""
MIN_GROUP = 32
"""Minimum number of inputs that share a scale."""
PLACE_SHARE = 4
"""The ring of places has a share of the beats of that of codes."""
SCALES_FREE = 4
"""Cycles without ArrayLatency from a block's end until its scales have freed their places; the first beat of the next block leaves
the ports a cycle later.
"""
LOAD_AHEAD, BN_RING, RESIDUAL_RING, RESIDUAL_LAG = 256, 32, 64, 24
"""DDR beats of activations requested ahead, after which the rings of the other streams fill too; sizes of these rings. The
residual's ring frees its places late, because outputs are still in the pipeline and it requests whole bursts.
"""


class MvmConstants(NamedTuple):
    """Cycles that do not depend on sizes, as in the RTL with ideal memory.

    start: from the start write to the first read request (latch, check).
    array: from the last word's issue to its FP16 result, including the first read latency; without what operators take beyond a
        cycle each (`operator_cycles`).
    write: the last write's response, and the commit.
    weights: additional cycles through port FIFO and weight buffer, compared with activations; HBM is asked a cycle before DDR.
    """

    start: int = 13
    array: int = 8
    write: int = 3
    weights: int = 1


CONSTANTS = MvmConstants()


def chunks(chin: int, tokens: int) -> list[int]:
    """Return the tokens of each chunk that is loaded together: powers of two, at the end half of the rest."""
    lanes = 1 << (chin - 1).bit_length()
    most = min(MAX_CHUNK, max(MIN_CHUNK, CHUNK_LANES // lanes))
    chunks: list[int] = []
    while tokens:
        chunks.append(min(most, 1 << ((tokens + 1) // 2).bit_length() - 1))
        tokens -= chunks[-1]
    return chunks


def operands_before(o: MvmFields, blocks: int) -> int:
    """Return the DDR beats of batch norm and residual that come before the last activation."""
    long = o.tokens * o.in_surfaces > LOAD_AHEAD
    if o.tokens == 1 and not long:
        return 0  # they come after it
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


def first_block(o: MvmFields, load: int, token: int) -> int:
    """Return when the array ends the first block of output channels if activations arrive at one beat per cycle.

    load: time of the last activation. token: the array's cycles for a token and a block.
    """
    ends, here = 0, load - o.tokens * o.in_surfaces
    for chunk in chunks(o.chin, o.tokens):
        here += chunk * o.in_surfaces
        ends = max(ends + token, here - chunk + 1) + (chunk - 1) * token
    return ends


def single_output(o: MvmFields, pixels: int) -> int:
    """Return when a single token's first block has all operands of its outputs; these come after its activations."""
    if o.tokens > 1 or o.bn is None:
        return 0
    beats = bn_bytes(o.chout) // PIXEL_BYTES
    if o.residual is None:
        return pixels + BN_BEATS
    return pixels + min(OPERAND_BURST - o.bn // PIXEL_BYTES % OPERAND_BURST, beats) + 1


def block_weights(device: Device, o: MvmFields) -> tuple[int, int]:
    """Return the beats of a block that a port delivers: those before the first codes (scales, places), and all."""
    scales = ceil_div(ceil_div(min(o.chin, device.parameters["TgroupCh"]), o.tblk), BEAT_BYTES // 2)
    return scales + bool(o.kept), o.channel_bytes(device) // BEAT_BYTES


def array_steps(o: MvmFields) -> int:
    """Return the cycles of the array for a token and a block of output channels."""
    return ceil_div(o.chin, step_inputs(o.kept))


def weight_ring(device: Device, o: MvmFields) -> int:
    """Return the beats of a block's stream that a port fetches ahead, scales not counted."""
    p = device.parameters
    ring = p["WtDepth"] * p["Tin"] // ARRAY_LANES
    if o.kept:
        codes, places = code_beats(p["TgroupCh"], o.kept)
        ring = min(ring * (codes + places) // codes, ring // PLACE_SHARE * (codes + places) // places)
    return ring + p["PortFifoDepth"]


def operands_leave(device: Device) -> int:
    """Return the cycles from an output's issue until its operands leave the rings of batch norm and residual."""
    return 4 + device.parameters["ArrayLatency"] + device.parameters["ProductLatency"]


def operator_cycles(device: Device, o: MvmFields) -> int:
    """Return the cycles of the operators on an output's way; batch norm and residual have theirs only where they are asked for."""
    p = device.parameters
    cycles = p["ArrayLatency"] + p["ProductLatency"] + p["RoundLatency"] + p["NarrowLatency"]
    if o.bn is not None:
        cycles += p["ScaleLatency"] + p["AddLatency"] - 1
    if o.residual is not None:
        cycles += max(p["ScaleLatency"], p["AddLatency"] - 1)
    return cycles


def argmax_cycles(device: Device, o: MvmFields) -> int:
    """Return the cycles after the last output: two levels of the tree over a block's columns per cycle, then the indices."""
    if o.argmax is None:
        return 0
    levels = device.parameters["Tout"].bit_length() - 1
    return ceil_div(levels, 2) + o.tokens + ceil_div(o.tokens, PIXEL_BYTES // 4) + 1


def way(device: Device, o: MvmFields, constants: MvmConstants) -> int:
    """Return the cycles around the streams: from start to the first request, and from the last step to the commit."""
    return constants.start + constants.array + operator_cycles(device, o) + bool(o.kept) + constants.write


def _block_behind_weights(device: Device, o: MvmFields, token: int) -> int:
    """Return the cycles from a block's first beat out of the ports to its end, if weights arrive last.

    The array begins with the first codes, after their scales, or waits for the last ones.
    """
    scales, beats = block_weights(device, o)
    return max(scales + o.tokens * token, beats + (o.tokens - 1) * token)


def _scale_ring(device: Device) -> int:
    """Return the beats of scales that a port's buffer holds."""
    p = device.parameters
    return ceil_div(p["WtDepth"] * p["Tin"], p["TgroupCh"]) * (p["TgroupCh"] // MIN_GROUP // (BEAT_BYTES // 2))


def _scales(device: Device, o: MvmFields) -> tuple[int, ...]:
    """Return the beats of scales before each group of a channel's codes."""
    group = device.parameters["TgroupCh"]
    sizes = [min(group, o.chin - at) for at in range(0, o.chin, group)]
    return tuple(ceil_div(ceil_div(n, o.tblk), BEAT_BYTES // 2) for n in sizes)


def _block(device: Device, o: MvmFields, token: int) -> int:
    """Return the array's cycles from the end of a block to that of the next one.

    The ring of scales covers as many inputs as the ring of codes. If it has no room for the next block's first ones, these leave
    the ports only when the array has read a block's last scales, after its end.
    """
    scales = _scales(device, o)
    late = sum(scales) + scales[0] > _scale_ring(device)
    freed = SCALES_FREE + device.parameters["ArrayLatency"] + 1
    return freed + _block_behind_weights(device, o, token) if late else o.tokens * token


def _plan(device: Device, o: MvmFields) -> FollowedPlan:
    """Return the plan for `mvm_followed`. Of a tensor's address only the offset in a page matters."""
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
        scales=_scales(device, o),
        ring=p["WtDepth"] * p["Tin"] // ARRAY_LANES,
        scale_ring=_scale_ring(device),
        input=Stream(o.input % PAGE, o.in_surface, source == "onchip"),
        bn=(0, 0) if o.bn is None else (o.bn % PAGE, bn_bytes(o.chout) // PIXEL_BYTES),
        residual=Stream(o.residual % PAGE, o.out_surface, second == "onchip"),
        operands_leave=operands_leave(device),
        scales_free=SCALES_FREE + p["ArrayLatency"],
    )


def mvm_cycles(device: Device, o: MvmFields, constants: MvmConstants = CONSTANTS) -> int:
    """Return the cycles from start to commit."""
    p = device.parameters
    blocks = ceil_div(o.chout, p["Tout"])
    beats = o.channel_bytes(device) // BEAT_BYTES
    token = array_steps(o)
    pixels = o.tokens * o.in_surfaces
    around = way(device, o, constants)
    tail = argmax_cycles(device, o)
    if o.residual is not None and not o.kept and pixels + blocks * o.tokens * token <= FOLLOWED:
        return around + last_issue(_plan(device, o)) - FIRST_ISSUE + tail
    first = max(first_block(o, pixels + operands_before(o, blocks), token), single_output(o, pixels))
    behind = constants.weights + _block_behind_weights(device, o, token)
    first = max(first, behind)
    array = first + (blocks - 1) * _block(device, o, token)
    ring = weight_ring(device, o)
    weights = max((blocks - 1) * beats + behind, first + (blocks - 1) * beats - ring + constants.weights)
    reads = pixels
    reads += bn_bytes(o.chout) // PIXEL_BYTES if o.bn is not None else 0
    reads += o.tokens * blocks if o.residual is not None else 0
    return around + max(array, weights, reads) + tail


def mvm_macs(device: Device, o: MvmFields) -> tuple[int, int]:
    """Return (useful, issued) multiply-accumulates; of sparse weights those of the stored ones."""
    tout = device.parameters["Tout"]
    channels = ceil_div(o.chout, tout) * tout
    if o.kept:
        return o.tokens * ceil_div(o.chin * o.kept, BLOCK) * o.chout, o.tokens * array_steps(o) * ARRAY_LANES * channels
    return o.tokens * o.chin * o.chout, o.tokens * array_steps(o) * ARRAY_LANES * channels
