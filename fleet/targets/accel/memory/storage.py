"""The memory plan of a graph: the storage of every tensor and constant, and the address of every storage.

A block ("runtime") has a piece of a memory, or all of one. It is filled in two steps. Inputs and results of a step share memory if
their lifetimes allow it and the block has the ping-pong property; otherwise each lives forever. Constants follow after
them. A storage ("runtime0") is an allocation at an offset of the block. Addresses are known only when the sizes of all
blocks are (`Planner.finish`), because a block may follow another one.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from typing import Any

from fleet.core.records.address_map import AddressMap, live_bytes, place_lines, when
from fleet.errors import DeviceError, ModelError
from fleet.sdk.tasks import Space
from fleet.targets.accel.settings import NEEDED_BLOCKS, Blocks, BuildConfig
from fleet.targets.liveness import FOREVER, Life
from fleet.targets.memory_block import LOADING, MemoryBlock
from fleet.targets.planner import round_up

WHERE = "memory plan"


@dataclass(frozen=True)
class GraphStorage:
    """A piece of a block: `size` bytes at `address` of a memory space, in every bank of it.

    part: index of the space's equal part, if it has several (the halves of an on-chip memory).
    """

    name: str
    block: str
    space: str
    address: int
    size: int
    part: int = 0

    @property
    def end(self) -> int:
        """Offset after its last byte."""
        return self.address + self.size


@dataclass(frozen=True)
class Tenant:
    """A value in a storage, which may be larger. Step -1: before the first."""

    key: str
    storage: GraphStorage
    life: Life


@dataclass(frozen=True)
class StoragePlan:
    """The finished plan.

    Attributes:
        storages: name -> storage, block by block, ascending in each; two of a block may overlap.
        tenants: in the order in which they begin.
        bases: block -> (space, first byte, end).
        steps: number of steps.
    """

    storages: Mapping[str, GraphStorage]
    tenants: tuple[Tenant, ...]
    bases: Mapping[str, tuple[str, int, int]]
    steps: int

    def peak(self, block: str) -> int:
        """Return the largest number of bytes of a block that are live at once."""
        return live_bytes(t.life for t in self.tenants if t.storage.block == block)

    def report(self) -> list[str]:
        """Return one line per block: its place, its storages, the peak of live bytes, and the bytes wasted beyond it."""
        lines = [f"{'block':<12} {'space':<7} {'begins':>12} {'bytes':>15} {'storages':>8} {'peak alive':>15} {'lost':>7}"]
        for block, (space, first, end) in self.bases.items():
            size, peak = end - first, self.peak(block)
            count = sum(s.block == block for s in self.storages.values())
            lost = 1 - peak / size if size else 0.0
            lines.append(f"{block:<12} {space:<7} {first:#12x} {size:>15,} {count:>8} {peak:>15,} {lost:>6.1%}")
        return lines

    def address_map(self) -> AddressMap:
        """Return the address map over time."""
        placed = ((t.key, t.storage.block, t.storage.space, t.storage.address, t.life) for t in self.tenants)
        return AddressMap.planned(self.steps, placed)

    def lines(self, moments: Sequence[str]) -> Iterator[str]:
        """Return the blocks and their contents over time. moments: what runs at every step."""
        yield from self.report()
        places: list[tuple[str, int, int, str]] = []
        for t in self.tenants:
            stays, at = t.life.first <= LOADING and t.life.last >= FOREVER, t.storage
            places.append((at.space, at.address, t.life.size, f"{at.block} {t.key}{'' if stays else when(t.life, moments)}"))
        yield from place_lines(places)


@dataclass
class _Block:
    """A block of a plan, and the storages in it by their place (part, offset in it): name and size."""

    name: str
    room: MemoryBlock
    storages: dict[tuple[int, int], tuple[str, int]] = field(default_factory=dict[tuple[int, int], tuple[str, int]])

    def store(self, key: str) -> str:
        """Return the name of the storage for a placed value."""
        place = self.room.places[key]
        name, size = self.storages.get(place, (f"{self.name}{len(self.storages)}", 0))
        self.storages[place] = name, max(size, self.room.lives[key].size)
        return name


class Planner:
    """Call `place` for all values of a step, then `settle`; then `take` for constants, and `finish`."""

    def __init__(self, blocks: Blocks, config: BuildConfig, spaces: Mapping[str, Space], device: str) -> None:
        """blocks: the base of each. spaces: the device's memories. device: its name, for messages.

        Raises ModelError if a block is missing, follows an unknown one, or follows itself in a circle.
        """
        self.config, self.spaces, self.device = config, spaces, device
        self._bases = dict(blocks)
        _check_chains(self._bases)
        for name in config.pingpong:
            if name not in self._bases:
                what = f"setting 'pingpong' names '{name}', which is no block"
                raise ModelError(what, where=WHERE, hint=f"blocks are {', '.join(self._bases)}")
        self._blocks: dict[str, _Block] = {}
        self._of: dict[str, _Block] = {}

    def place(
        self, key: str, block: str, space: str, size: int, first: int, last: int, *,
        avoid: Collection[int] = (), prefer: int | None = None,
    ) -> None:  # fmt: skip
        """Allocate memory for a value of a step, from step `first` to `last`; in a block without the ping-pong property, forever.

        Args:
            key: unique.
            block, space: its block and memory. size: bytes, in every bank.
            avoid: parts of the space that it must not use. prefer: the preferred part.

        Raises:
            ModelError: the block has no base, or other tensors of it are in another memory.
            DeviceError: the parts of the space have no room for it.
        """
        found = self._block(block, space, key)
        size = round_up(max(size, 1), found.room.align)
        life = Life(size, first, last) if self.config.ping_pong(block) else Life(size, LOADING, FOREVER)
        if found.room.parts == 1:
            found.room.expect({key: life})
        else:
            # Placed at once, because later placements depend on whether and where this fits.
            allowed = sorted((p for p in range(found.room.parts) if p not in avoid), key=lambda p: p != prefer)
            if not found.room.place(key, life, allowed):
                raise DeviceError(self._full(found, life, avoid), where=f"{WHERE}, block '{block}', '{key}'")
        self._of[key] = found

    def part(self, key: str) -> int:
        """Return the part that holds a value, in a space with several."""
        return self._of[key].room.places[key][0]

    def settle(self) -> None:
        """Assign storages to all placed values."""
        for block in self._blocks.values():
            block.room.settle()
            for key in sorted(block.room.places, key=lambda key: block.room.places[key]):
                block.store(key)

    def storage(self, key: str) -> str:
        """Return the name of the storage of a value, after `settle`."""
        block = self._of[key]
        return block.storages[block.room.places[key]][0]

    def take(self, key: str, block: str, space: str, size: int) -> str:
        """Allocate unshared memory for a constant at the end; return the name of its storage. Raises as `place`."""
        found = self._block(block, space, key)
        found.room.take(key, round_up(max(size, 1), found.room.align))
        return found.store(key)

    def stage(self, block: str, space: str, size: int) -> str:
        """Allocate memory used only while constants are loaded, before other values are live; return the name of its storage."""
        found = self._block(block, space, "staging")
        life = Life(round_up(size, found.room.align), LOADING, LOADING)
        behind = life.size > found.room.shared < found.room.end
        found.room.stand("staging", life, found.room.end if behind else 0)
        return found.store("staging")

    def names(self) -> list[str]:
        """Return the storages so far."""
        return [name for block in self._blocks.values() for name, _ in block.storages.values()]

    def finish(self, steps: int) -> StoragePlan:
        """Return the plan, with addresses.

        Raises:
            DeviceError: a block does not fit the device.
            ModelError: blocks overlap.
        """
        storages: dict[str, GraphStorage] = {}
        bases: dict[str, tuple[str, int, int]] = {}
        for name in self._bases:
            self._place(name, storages, bases)
        used = {b: bases[b] for b in self._bases if b in self._blocks}
        self._check_apart(used)
        tenants = [
            Tenant(key, storages[b.storages[at][0]], b.room.lives[key])
            for b in self._blocks.values()
            for key, at in b.room.places.items()
        ]
        return StoragePlan(storages, tuple(sorted(tenants, key=lambda t: t.life.first)), used, steps)

    # ---- blocks

    def _block(self, name: str, space: str, key: str) -> _Block:
        if name not in self._bases:
            raise ModelError(
                f"block '{name}' has no base address",
                where=f"{WHERE}, '{key}'",
                hint=f"blocks are {', '.join(self._bases)}",
            )
        if space not in self.spaces:
            raise DeviceError(f"no memory '{space}' for '{key}'", where=self.device)
        memory = self.spaces[space]
        align, part_bytes = max(self.config.align, memory.align), memory.size // memory.parts
        block = self._blocks.setdefault(name, _Block(name, MemoryBlock(space, align, memory.parts, part_bytes)))
        if block.room.space != space:
            what = f"block '{name}' stands in {block.room.space}, '{key}' wants {space}"
            raise ModelError(what, where=WHERE, hint="give it a block of its own")
        return block

    def _full(self, block: _Block, life: Life, avoid: Collection[int]) -> str:
        room = block.room
        if len(set(avoid)) >= room.parts:
            return f"its operands stand in all {room.parts} parts of {room.space}, a result needs another one than they have"
        part = f"a part has {room.part_bytes:,}, beside what lives meanwhile"
        operands = f"; part {' and '.join(map(str, avoid))} has its operands" if avoid else ""
        return f"{life.size:,} bytes of {room.space} do not fit: {part}{operands}"

    # ---- addresses

    def _place(
        self, name: str, storages: dict[str, GraphStorage], bases: dict[str, tuple[str, int, int]]
    ) -> tuple[str | None, int]:
        """Return (space, end) of a block, after placing those that it follows."""
        chain = [name]
        while chain[-1] not in bases and isinstance(base := self._bases[chain[-1]], str):
            chain.append(base)
        for block in reversed(chain):
            if block not in bases:
                self._place_one(block, storages, bases)
        space, _, end = bases[name]
        return space, end

    def _place_one(self, name: str, storages: dict[str, GraphStorage], bases: dict[str, tuple[str, int, int]]) -> None:
        base, block = self._bases[name], self._blocks.get(name)
        before, _, first = bases[base] if isinstance(base, str) else ("", 0, base)
        # An empty block gets the address that it would have, in the memory of the block before it.
        if block is None:
            bases[name] = (before, first, first)
            return
        room = block.room
        if before and before != room.space:
            what = f"block '{name}' follows '{base}', which stands in {before}, and stands in {room.space}"
            raise ModelError(what, where=WHERE, hint="give it an address of its own")
        if room.parts > 1 and (first != 0 or any(b.room.space == room.space for b in self._blocks.values() if b is not block)):
            what = f"block '{name}' does not have all of {room.space} from address 0 on, which stands in {room.parts} parts"
            raise ModelError(what, where=WHERE, hint="use one block for it, and give it the address 0")
        first = end = round_up(first, room.align)
        for (part, at), (called, size) in sorted(block.storages.items()):
            storages[called] = made = GraphStorage(called, name, room.space, first + part * room.part_bytes + at, size, part)
            end = max(end, made.end)
        if end > self.spaces[room.space].size:
            raise DeviceError(
                self._too_large(block, storages, first, end), where=f"{WHERE}, block '{name}'", hint=_HINT.get(room.space)
            )
        bases[name] = (room.space, first, end)

    def _too_large(self, block: _Block, storages: Mapping[str, GraphStorage], first: int, end: int) -> str:
        space = block.room.space
        bank, size = " a bank" if space == "hbm" else "", self.spaces[space].size
        over = next(storages[name] for name, _ in block.storages.values() if storages[name].end > size)
        has = f"{self.device} has {size:#x} of {space}{bank}"
        whole = f"the block begins at {first:#x} and takes {end - first:,} bytes{bank}"
        return f"storage '{over.name}' of {over.size:,} bytes{bank} ends at {over.end:#x}, {has}; {whole}"

    def _check_apart(self, bases: Mapping[str, tuple[str, int, int]]) -> None:
        ranges = sorted(((space, first, end, name) for name, (space, first, end) in bases.items() if end > first))
        for (space, first, end, name), (other, begin, _, behind) in pairwise(ranges):
            if space == other and begin < end:
                raise ModelError(
                    f"blocks '{name}' and '{behind}' meet in {space}: [{first:#x}, {end:#x}) and from {begin:#x} on",
                    where=WHERE,
                    hint=f"let '{behind}' follow '{name}'",
                )


_HINT: Mapping[str, str] = {
    "ddr": "give the dimensions smaller bounds, or use a device with more memory",
    "hbm": "use a device with more memory, or a smaller model",
}


def _check_chains(bases: Mapping[Any, Any]) -> None:
    missing = [b for b in NEEDED_BLOCKS if b not in bases]
    if missing:
        raise ModelError(f"no base for block {', '.join(repr(b) for b in missing)}", where=WHERE, hint="give an address or a block")
    for name, base in bases.items():
        if not isinstance(base, int | str) or isinstance(base, bool) or (isinstance(base, int) and base < 0):
            raise ModelError(f"the base of block '{name}' is {base!r}, expected an address or the name of a block", where=WHERE)
        if not isinstance(name, str) or not name.isidentifier() or not name.isascii():
            raise ModelError(f"block {name!r}: expected a name of letters, digits and _", where=WHERE)
        seen, follows = [name], base
        while isinstance(follows, str):
            if follows not in bases:
                what = f"block '{seen[-1]}' follows '{follows}', which is no block"
                raise ModelError(what, where=WHERE, hint=f"blocks are {', '.join(bases)}")
            if follows in seen:
                circle = " follows ".join(f"'{b}'" for b in [*seen[seen.index(follows) :], follows])
                raise ModelError(f"the blocks go in a circle: {circle}", where=WHERE, hint="give one of them an address")
            seen.append(follows)
            follows = bases[follows]
