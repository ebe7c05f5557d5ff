"""Cycles of an MVM instruction with ideal memory, from the device's parameters.

The model is a pipeline of three streams that overlap: activations from DDR into the data buffer, weights from HBM into
the port FIFOs and the weight buffer, and the array. With

    words   = ceil(CHin / Tin)           array words of a token
    blocks  = ceil(CHout / Tout)         channels that a port delivers
    beats   = channel bytes / 32         cycles in which a port delivers one channel
    issue   = ceil(Tin * 4 / 256)        cycles between two words of the array (a port's beat holds 64 codes)
    load    = W * ceil(CHin / 32)        cycles in which DDR delivers the activations
    ahead   = min(load, PortFifoDepth + words * issue)   weight beats fetched while activations load

the array is busy `load + blocks * W * words * issue` cycles at the earliest, weights have arrived after
`load - ahead + blocks * beats`, DDR has read everything (BN words, residual) after `load + bn + residual`; the latest of
the three, plus constants for the start, latencies, the array's depth and the write-back of the last block, is the cost.
"""

from __future__ import annotations

from typing import NamedTuple

from fleet.isa.contract import Device
from fleet.isa.hbm0923.operands import BEAT_BYTES, PIXEL_BYTES, Operands, ceil_div, channel_bytes
from fleet.isa.hbm0923.ranges import bn_bytes


class Constants(NamedTuple):
    """Cycles that do not depend on sizes.

    start: from the start write to the first read request (latch, check).
    memory: read latency of an ideal memory.
    array: from the last word's issue to its FP16 result.
    write: latency of the last write's response, and the commit.
    """

    start: int = 4
    memory: int = 4
    array: int = 24
    write: int = 6


CONSTANTS = Constants()


def mvm_cycles(device: Device, o: Operands, constants: Constants = CONSTANTS) -> int:
    """Cycles from start to commit."""
    p = device.parameters
    words, blocks = ceil_div(o.chin, p["Tin"]), ceil_div(o.chout, p["Tout"])
    beats = channel_bytes(device, o.chin, o.tblk) // BEAT_BYTES
    issue = ceil_div(p["Tin"] * 4, 8 * BEAT_BYTES)
    load = o.tokens * o.in_surfaces
    ahead = min(load, p["PortFifoDepth"] + words * issue, blocks * beats)
    compute = load + blocks * o.tokens * words * issue
    weights = load - ahead + blocks * beats
    ddr = load
    ddr += ceil_div(bn_bytes(o.chout), PIXEL_BYTES) if o.bn is not None else 0
    ddr += o.tokens * o.out_surfaces if o.residual is not None else 0
    return sum(constants) + max(compute, weights, ddr) + o.tokens


def mvm_macs(device: Device, o: Operands) -> tuple[int, int]:
    """(useful, issued) multiply-accumulates."""
    tin, tout = device.parameters["Tin"], device.parameters["Tout"]
    return o.tokens * o.chin * o.chout, o.tokens * ceil_div(o.chin, tin) * tin * ceil_div(o.chout, tout) * tout
