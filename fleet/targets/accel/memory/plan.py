"""The memory plan: addresses of activations and constants in device memory.

Activations and scratch share the beginning of DDR: two that live at the same time never overlap (`share`). A tensor must therefore
be read when its group commits, not from the memory at the end of a run. Constants and areas follow, each in its own memory.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

import numpy as np

from fleet.core.records.address_map import AddressMap, live_bytes, place_lines, when
from fleet.errors import DeviceError
from fleet.sdk import Device
from fleet.targets.liveness import FOREVER, Life
from fleet.targets.memory_block import LOADING, MemoryBlock
from fleet.targets.planner import round_up

_ALIGN = 64


@dataclass(frozen=True)
class DdrTenant:
    """A tenant that shares DDR with others: an activation tensor, or the scratch of a group (as bytes).

    key: as in `ActivationBuffer`; "scratch of <operation id>".
    """

    key: str
    life: Life
    shape: tuple[int, ...]
    dtype: np.dtype


@dataclass(frozen=True)
class Area:
    """A piece of memory. size: bytes per bank. As it stands: one that instructions write before they read it, a KV cache."""

    key: str
    space: str
    offset: int
    size: int


@dataclass(frozen=True)
class ActivationBuffer(Area):
    """An activation tensor in DDR. key: operation id, or "%name" for a function argument; shape and dtype are the model's."""

    shape: tuple[int, ...]
    dtype: np.dtype


@dataclass(frozen=True)
class ConstantBytes(Area):
    """Constant bytes: one flat uint8 array per bank, all at the same offset (one bank for spaces other than "hbm")."""

    data: tuple[np.ndarray, ...]


@dataclass
class AccelMemoryPlan:
    """The memory plan. It grows while the compiler emits and is read-only afterwards.

    Attributes:
        blocks: space -> its layout, in every bank.
        lives: key -> lifetime, of everything that shares memory.
        buffers: key -> activation tensor or scratch. constants: key -> constant bytes. areas: key -> memory without contents.
        live: the peak of live bytes in shared memory.
    """

    device: Device
    blocks: dict[str, MemoryBlock] = field(default_factory=dict[str, MemoryBlock])
    lives: dict[str, Life] = field(default_factory=dict[str, Life])
    live: int = 0
    buffers: dict[str, ActivationBuffer] = field(default_factory=dict)
    constants: dict[str, ConstantBytes] = field(default_factory=dict)
    areas: dict[str, Area] = field(default_factory=dict)

    @property
    def used(self) -> dict[str, int]:
        """Space -> bytes allocated so far (in every bank)."""
        return {space: block.end for space, block in self.blocks.items()}

    @property
    def shared(self) -> int:
        """Bytes of DDR shared by values with lifetimes."""
        return self.blocks["ddr"].shared if "ddr" in self.blocks else 0

    def _check(self, space: str, offset: int, size: int, what: str) -> None:
        """Raises DeviceError if there is no such memory, or no room in it."""
        if space not in self.device.memory:
            raise DeviceError(f"no memory '{space}' for {what}", where=self.device.name)
        room = self.device.memory[space]
        if offset + size > room:
            bank = " a port" if space == "hbm" else ""
            needs = "need" if what.endswith(",") else "needs"
            raise DeviceError(
                f"{what} {needs} {size:,} bytes of {space}{bank} beside {offset:,} taken; the device has {room:,}{bank}",
                where=self.device.name,
                hint="use a device with more memory" + ("" if space == "hbm" else " or a smaller batch"),
            )

    def _take(self, space: str, size: int, align: int, what: str) -> int:
        block = self.blocks.get(space) or MemoryBlock(space, _ALIGN)
        self._check(space, round_up(block.end, align), size, what)
        self.blocks[space] = block
        return block.take(what, size, align)

    def share(self, tenants: Sequence[DdrTenant]) -> None:
        """Place all tenants; must be called first. Raises DeviceError if DDR is too small for them."""
        self.lives = {t.key: t.life for t in tenants}
        self.live = live_bytes(self.lives.values())
        block = MemoryBlock("ddr", _ALIGN)
        block.expect(self.lives)
        block.settle()
        for t in tenants:
            self.buffers[t.key] = ActivationBuffer(t.key, "ddr", block.offset(t.key), t.life.size, t.shape, t.dtype)
        if block.shared:
            largest = max(self.buffers.values(), key=lambda b: b.size)
            what = f"{len(tenants)} tensors, the largest '{largest.key.removeprefix('%')}' {list(largest.shape)},"
            self._check("ddr", 0, block.shared, what)
            self.blocks["ddr"] = block

    def buffer(self, key: str) -> ActivationBuffer:
        """Return the tensor's place. Raises DeviceError if no group names it among its activations and results."""
        if key not in self.buffers:
            raise DeviceError(
                f"a pattern asks for the address of '{key.removeprefix('%')}', which its match does not name",
                where=self.device.name,
                hint="name it in `activations` or `results` of the match, or give the match `scratch`",
            )
        return self.buffers[key]

    def view(self, key: str, of: str, skip: int, size: int, shape: tuple[int, ...], dtype: np.dtype) -> ActivationBuffer:
        """Add a tensor that is part of another one's bytes, from `skip` on. Raises DeviceError if it is not."""
        source = self.buffers[of]
        if skip < 0 or skip + size > source.size or key in self.buffers:
            raise DeviceError(f"tensor '{key}' is not part of '{of}': bytes {skip} to {skip + size} of {source.size}")
        self.buffers[key] = made = ActivationBuffer(key, "ddr", source.offset + skip, size, shape, dtype)
        return made

    def area(self, key: str, space: str, size: int, align: int) -> Area:
        """Return the area's place; the same key must have the same size. Raises DeviceError if the space is full."""
        known = self.areas.get(key)
        if known is not None:
            if (known.space, known.size) != (space, size):
                raise DeviceError(f"area '{key}' is asked for with {size} and with {known.size} bytes", where=self.device.name)
            return known
        self.areas[key] = made = Area(key, space, self._take(space, size, align, f"area '{key}'"), size)
        return made

    def constant(self, key: str, space: str, data: tuple[np.ndarray, ...], align: int) -> ConstantBytes:
        """Return the constant's place; the same key must have the same bytes. Raises DeviceError if the space is full."""
        known = self.constants.get(key)
        if known is not None:
            same = known.space == space and len(known.data) == len(data)
            if not same or not all(np.array_equal(a, b) for a, b in zip(known.data, data, strict=True)):
                raise DeviceError(f"constant '{key}' is stored twice with different bytes", where=self.device.name)
            return known
        if len({d.size for d in data}) != 1:
            raise DeviceError(f"constant '{key}' has banks of different sizes", where=self.device.name)
        offset = self._take(space, data[0].size, align, f"constant '{key}'")
        self.constants[key] = made = ConstantBytes(key, space, offset, data[0].size, data)
        return made

    def address_map(self, steps: int) -> AddressMap:
        """Return the address map over time. steps: number of steps of the schedule that the lifetimes refer to."""
        lasting = [("constants", c) for c in self.constants.values()] + [("areas", a) for a in self.areas.values()]
        placed = [(a.key, block, a.space, a.offset, Life(a.size, LOADING, FOREVER)) for block, a in lasting]
        tensors = [(key, "tensors", "ddr", self.buffers[key].offset, life) for key, life in self.lives.items()]
        return AddressMap.planned(steps, placed + tensors)

    def lines(self, moments: Sequence[str]) -> Iterator[str]:
        """Yield the lines of the memory plan: memory used, each tenant's place and lifetime.

        moments: what runs at every step of the schedule.
        """
        for space, used in self.used.items():
            yield f"{space}: {used:,} of {self.device.memory[space]:,} bytes{' a port' if space == 'hbm' else ''}"
        if self.lives:
            apart = sum(life.size for life in self.lives.values())
            yield f"tensors share {self.shared:,} bytes: {self.live:,} are needed at once, {apart:,} if each had its own"
        named = [(b, _words(b) + (when(self.lives[b.key], moments) if b.key in self.lives else "")) for b in self.buffers.values()]
        named += [(c, f"constant {c.key}") for c in self.constants.values()] + [(a, f"area {a.key}") for a in self.areas.values()]
        yield from place_lines((a.space, a.offset, a.size, words) for a, words in named)


def _words(buffer: ActivationBuffer) -> str:
    return buffer.key if buffer.key.startswith("scratch of ") else f"tensor {buffer.key} {list(buffer.shape)}"
