"""The scratchpads of a device, by the memory types of the instructions."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np

from fleet.sdk import Device, DeviceError, Memory, MemoryArray, place
from fleet.sets.vgemm.operands import MemoryType

BEAT = 64
"""Bytes of a beat of DDR."""


_NAMES = {
    MemoryType.UOP: "uop",
    MemoryType.INP: "inp",
    MemoryType.WGT: "wgt",
    MemoryType.ACC: "acc",
    MemoryType.OUT: "acc",
}


def pad(device: Device, kind: MemoryType) -> MemoryArray:
    """Return the scratchpad of a memory type, one element per row; OUT is that of ACC."""
    return device.arrays[_NAMES[kind]]


def element_bytes(device: Device, kind: MemoryType) -> int:
    """Return the bytes of an element in DDR."""
    return device.parameters["Block"] if kind is MemoryType.OUT else pad(device, kind).row_bytes


def read_elements(device: Device, memory: Memory, kind: MemoryType) -> np.ndarray:
    """Return the whole scratchpad, [depth, numbers of an element]: a view."""
    p = pad(device, kind)
    return memory.view(p.name, 0, p.size).view(p.dtype).reshape(p.depth, p.columns)


def _place(device: Device, key: str) -> str:
    return place(device.path, key) if device.path else device.name


def check_device(devices: Iterable[Device]) -> None:
    """Raises DeviceError if a device's sizes do not match."""
    limits = {"uop": 2048, "inp": 2048, "wgt": 1024, "acc": 2048}
    for device in devices:
        p = device.parameters
        if p["Block"] not in (4, 8, 16):
            raise DeviceError(f"parameters.Block is {p['Block']}, expected 4, 8 or 16", where=_place(device, "parameters.Block"))
        for name, most in limits.items():
            depth = device.arrays[name].depth
            if not 64 <= depth <= most or depth & (depth - 1):
                raise DeviceError(
                    f"memories.{name} is {depth}, expected a power of two of 64 to {most}", where=_place(device, f"memories.{name}")
                )
        # Offsets have 32 bits.
        if device.memory["ddr"] % (1 << 20) or device.memory["ddr"] > 1 << 32:
            raise DeviceError(
                f"memory.ddr is {device.memory['ddr']} bytes, expected whole MiB, at most 4096", where=_place(device, "memory.ddr")
            )
