"""The scratchpads of a device: how large an element is, how many there are, and where they stand in space "onchip"."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from functools import lru_cache

import numpy as np

from fleet.sdk import Device, DeviceError, Memory, place
from fleet.sets.vgemm.operands import MemoryType

__all__ = ["BEAT", "Pad", "check_device", "element_bytes", "pad", "read_elements"]

BEAT = 64
"""Bytes of a beat of DDR."""


@dataclass(frozen=True)
class Pad:
    """One scratchpad. element: bytes; depth: elements; base: offset in space "onchip"."""

    element: int
    depth: int
    base: int


@lru_cache(maxsize=64)
def _pads(block: int, uop: int, inp: int, wgt: int, acc: int) -> dict[MemoryType, Pad]:
    found: dict[MemoryType, Pad] = {}
    base = 0
    sizes = (
        (MemoryType.UOP, 4, uop),
        (MemoryType.INP, block, inp),
        (MemoryType.WGT, block * block, wgt),
        (MemoryType.ACC, 4 * block, acc),
    )
    for kind, element, depth in sizes:
        found[kind] = Pad(element, depth, base)
        base += element * depth
    found[MemoryType.OUT] = Pad(4 * block, acc, found[MemoryType.ACC].base)
    return found


def pad(device: Device, kind: MemoryType) -> Pad:
    """The scratchpad of a memory type; OUT is that of ACC."""
    p = device.parameters
    return _pads(p["Block"], p["UopDepth"], p["InpDepth"], p["WgtDepth"], p["AccDepth"])[kind]


def element_bytes(device: Device, kind: MemoryType) -> int:
    """Bytes of an element in DDR."""
    return device.parameters["Block"] if kind is MemoryType.OUT else pad(device, kind).element


def read_elements(device: Device, memory: Memory, kind: MemoryType, dtype: str) -> np.ndarray:
    """The whole scratchpad, [depth, numbers of an element]: a view."""
    p = pad(device, kind)
    return memory.view("onchip", p.base, p.element * p.depth).view(dtype).reshape(p.depth, -1)


def _place(device: Device, key: str) -> str:
    return place(device.path, key) if device.path else device.name


def check_device(devices: Iterable[Device]) -> None:
    """Raises DeviceError for sizes that do not fit together."""
    limits = {"UopDepth": 2048, "InpDepth": 2048, "WgtDepth": 1024, "AccDepth": 2048}
    for device in devices:
        p = device.parameters
        if p["Block"] not in (4, 8, 16):
            raise DeviceError(f"parameters.Block is {p['Block']}, expected 4, 8 or 16", where=_place(device, "parameters.Block"))
        for name, most in limits.items():
            if not 64 <= p[name] <= most or p[name] & (p[name] - 1):
                raise DeviceError(
                    f"parameters.{name} is {p[name]}, expected a power of two of 64 to {most}",
                    where=_place(device, f"parameters.{name}"),
                )
        last = pad(device, MemoryType.ACC)
        size = last.base + last.element * last.depth
        if 2 * p["OnchipDepth"] * BEAT != size:
            raise DeviceError(
                f"parameters.OnchipDepth is {p['OnchipDepth']}, expected {size // BEAT // 2}",
                where=_place(device, "parameters.OnchipDepth"),
            )
        # Offsets have 32 bits.
        if device.memory["ddr"] % (1 << 20) or device.memory["ddr"] > 1 << 32:
            raise DeviceError(
                f"memory.ddr is {device.memory['ddr']} bytes, expected whole MiB, at most 4096", where=_place(device, "memory.ddr")
            )
