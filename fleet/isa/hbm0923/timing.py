"""Cycles of an MVM instruction with ideal memory, from the device's parameters.

The model is a pipeline of streams that overlap: activations from DDR into the data buffer, weights from HBM into the port
FIFOs and the weight buffer, the array, and the output to DDR. With

    token   = ceil(CHin / lanes)         cycles of the array for a token and a block: beats of 64 lanes, of 32 with groups of 32
    blocks  = ceil(CHout / Tout)         channels that a port delivers
    beats   = channel bytes / 32         cycles in which a port delivers one channel
    load    = W * ceil(CHin / 32)        cycles in which DDR delivers the activations, surface by surface
    early   = min(token, load/2)         cycles of the first token that the array takes while the last surface arrives
    ahead   = min(load, PortFifoDepth + token)   weight beats fetched while activations load

the streams end, counted from the first request, at

    array     load - early + blocks * W * token
    weights   load - ahead + blocks * beats
    reads     load + BN words / 16 + residual pixels
    output    load - early + blocks * W                  a pixel (or a part of it, Tout lanes) is written a cycle

and the latest of them, plus a cycle a token for argmax, plus constants, is the cost. Compared with the RTL in
tests/isa/hbm0923/test_timing.py.
"""

from __future__ import annotations

from typing import NamedTuple

from fleet.isa.contract import Device
from fleet.isa.hbm0923.operands import BEAT_BYTES, PIXEL_BYTES, Operands, ceil_div, channel_bytes
from fleet.isa.hbm0923.ranges import bn_bytes


class Constants(NamedTuple):
    """Cycles that do not depend on sizes, as the RTL has them with ideal memory.

    start: from the start write to the first read request (latch, check).
    array: from the last word's issue to its FP16 result, first read latency included.
    write: the last write's response, and the commit.
    pixel: cycles of one write to DDR.
    """

    start: int = 14
    array: int = 17
    write: int = 3
    pixel: int = 1


CONSTANTS = Constants()


def mvm_cycles(device: Device, o: Operands, constants: Constants = CONSTANTS) -> int:
    """Cycles from start to commit."""
    p = device.parameters
    blocks = ceil_div(o.chout, p["Tout"])
    beats = channel_bytes(device, o.chin, o.tblk) // BEAT_BYTES
    token = ceil_div(o.chin, min(64, o.tblk))
    load = o.tokens * o.in_surfaces
    early = min(token, load // 2)
    array = load - early + blocks * o.tokens * token
    weights = load - min(load, p["PortFifoDepth"] + token, blocks * beats) + blocks * beats
    reads = load
    reads += ceil_div(bn_bytes(o.chout), PIXEL_BYTES) if o.bn is not None else 0
    reads += o.tokens * o.out_surfaces if o.residual is not None else 0
    output = load - early + blocks * o.tokens * constants.pixel
    tail = o.tokens if o.argmax is not None else 0
    return constants.start + constants.array + constants.write + max(array, weights, reads, output) + tail


def mvm_macs(device: Device, o: Operands) -> tuple[int, int]:
    """(useful, issued) multiply-accumulates."""
    tin, tout = device.parameters["Tin"], device.parameters["Tout"]
    return o.tokens * o.chin * o.chout, o.tokens * ceil_div(o.chin, tin) * tin * ceil_div(o.chout, tout) * tout
