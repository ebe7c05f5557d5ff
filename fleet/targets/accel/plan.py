"""The memory plan: where activations and constants stand in device memory.

Bump allocation: every buffer has its own room for the whole run, so tensors of every operation can be read at the end.
"""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from fleet.errors import DeviceError
from fleet.sdk import Device

__all__ = ["Area", "Buffer", "Constant", "MemoryPlan"]


@dataclass(frozen=True)
class Buffer:
    """An activation tensor in DDR. key: operation id, or "%name" for a function argument; shape and dtype are the model's."""

    key: str
    offset: int
    size: int
    shape: tuple[int, ...]
    dtype: np.dtype


@dataclass(frozen=True)
class Constant:
    """Constant bytes: one flat uint8 array a bank, all at the same offset (one bank for spaces other than "hbm")."""

    key: str
    space: str
    offset: int
    data: tuple[np.ndarray, ...]

    @property
    def size(self) -> int:
        """Bytes a bank."""
        return self.data[0].size


@dataclass(frozen=True)
class Area:
    """Room that instructions write before they read it: a KV cache, scores of an attention. size: bytes, a bank."""

    key: str
    space: str
    offset: int
    size: int


@dataclass
class MemoryPlan:
    """Grows while the compiler emits; read-only afterwards.

    Attributes:
        buffers: key -> activation tensor. constants: key -> constant bytes. areas: key -> room without content.
        used: space -> bytes taken so far (in every bank).
    """

    device: Device
    buffers: dict[str, Buffer] = field(default_factory=dict)
    constants: dict[str, Constant] = field(default_factory=dict)
    areas: dict[str, Area] = field(default_factory=dict)
    used: dict[str, int] = field(default_factory=dict)

    def _take(self, space: str, size: int, align: int, what: str) -> int:
        if space not in self.device.memory:
            raise DeviceError(f"no memory '{space}' for {what}", where=self.device.name)
        offset = -(-self.used.get(space, 0) // align) * align
        room = self.device.memory[space]
        if offset + size > room:
            bank = " a port" if space == "hbm" else ""
            raise DeviceError(
                f"{what} needs {size:,} bytes of {space}{bank} beside {offset:,} taken; the device has {room:,}{bank}",
                where=self.device.name,
                hint="use a device with more memory" + ("" if space == "hbm" else " or a smaller batch"),
            )
        self.used[space] = offset + size
        return offset

    def buffer(self, key: str, size: int, shape: tuple[int, ...], dtype: np.dtype) -> Buffer:
        """The tensor's place, made on first use. Raises DeviceError when DDR is full."""
        if key not in self.buffers:
            offset = self._take("ddr", size, 64, f"tensor '{key.removeprefix('%')}' {list(shape)}")
            self.buffers[key] = Buffer(key, offset, size, shape, dtype)
        return self.buffers[key]

    def view(self, key: str, of: str, skip: int, size: int, shape: tuple[int, ...], dtype: np.dtype) -> Buffer:
        """A tensor that is part of another one's bytes, from `skip` on. Raises DeviceError when it is none."""
        source = self.buffers[of]
        if skip < 0 or skip + size > source.size or key in self.buffers:
            raise DeviceError(f"tensor '{key}' is no part of '{of}': bytes {skip} to {skip + size} of {source.size}")
        self.buffers[key] = made = Buffer(key, source.offset + skip, size, shape, dtype)
        return made

    def area(self, key: str, space: str, size: int, align: int) -> Area:
        """The area's place; the same key must come with the same size. Raises DeviceError when the space is full."""
        known = self.areas.get(key)
        if known is not None:
            if (known.space, known.size) != (space, size):
                raise DeviceError(f"area '{key}' is asked for with {size} and with {known.size} bytes", where=self.device.name)
            return known
        self.areas[key] = made = Area(key, space, self._take(space, size, align, f"area '{key}'"), size)
        return made

    def constant(self, key: str, space: str, data: tuple[np.ndarray, ...], align: int) -> Constant:
        """The constant's place; the same key must come with the same bytes. Raises DeviceError when the space is full."""
        known = self.constants.get(key)
        if known is not None:
            same = known.space == space and len(known.data) == len(data)
            if not same or not all(np.array_equal(a, b) for a, b in zip(known.data, data, strict=True)):
                raise DeviceError(f"constant '{key}' is stored twice with different bytes", where=self.device.name)
            return known
        sizes = {d.size for d in data}
        if len(sizes) != 1:
            raise DeviceError(f"constant '{key}' has banks of different sizes", where=self.device.name)
        offset = self._take(space, sizes.pop(), align, f"constant '{key}'")
        self.constants[key] = made = Constant(key, space, offset, data)
        return made
