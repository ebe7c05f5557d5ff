"""The memory plan: which storage every tensor and constant stands in, and at which address every storage begins.

A block ("runtime") is a row of storages ("runtime0", "runtime1", ...). Blocks with the ping-pong property give a storage to
another tensor when what it holds is dead: the smallest free one that is large enough, else the largest free one, which grows.
So addresses are known only when everything has its storage (`Planner.finish`).
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass, field
from itertools import pairwise
from typing import Any

from fleet.errors import DeviceError, ModelError
from fleet.sdk.tasks import Space
from fleet.targets.graph.settings import NEEDED_BLOCKS, Blocks, BuildConfig

__all__ = ["GraphStorage", "Planner", "StoragePlan", "Tenant"]

WHERE = "memory plan"


def round_up(value: int, unit: int) -> int:
    """The next multiple."""
    return -(-value // unit) * unit


@dataclass(frozen=True)
class GraphStorage:
    """A piece of a block: `size` bytes at `address` of a memory space, in every bank of it.

    part: which of the space's equal parts, where it has several (the halves of an on-chip memory).
    """

    name: str
    block: str
    space: str
    address: int
    size: int
    part: int = 0

    @property
    def end(self) -> int:
        """Behind its last byte."""
        return self.address + self.size


@dataclass(frozen=True)
class Tenant:
    """What stands in a storage from step `first` to step `last`, both included. step -1: before the first; None: to the end.

    size: the bytes that it takes of the storage, which may be larger.
    """

    key: str
    storage: str
    size: int
    first: int
    last: int | None


@dataclass(frozen=True)
class StoragePlan:
    """The finished plan.

    Attributes:
        storages: name -> storage, block by block, ascending in each.
        tenants: in the order in which they came.
        bases: block -> (space, first byte, behind the last byte).
        steps: how many there are.
    """

    storages: Mapping[str, GraphStorage]
    tenants: tuple[Tenant, ...]
    bases: Mapping[str, tuple[str, int, int]]
    steps: int

    def peak(self, block: str) -> int:
        """The most bytes of a block that are alive at once."""
        change = [0] * (self.steps + 3)
        for t in self.tenants:
            if self.storages[t.storage].block == block:
                change[t.first + 1] += t.size
                change[(self.steps if t.last is None else t.last) + 2] -= t.size
        most = now = 0
        for c in change:
            now += c
            most = max(most, now)
        return most

    def report(self) -> list[str]:
        """A line a block: where it stands, its storages, the peak of what is alive in it, and what is lost beside that."""
        lines = [f"{'block':<12} {'space':<7} {'begins':>12} {'bytes':>15} {'storages':>8} {'peak alive':>15} {'lost':>7}"]
        for block, (space, first, end) in self.bases.items():
            size, peak = end - first, self.peak(block)
            count = sum(s.block == block for s in self.storages.values())
            lost = 1 - peak / size if size else 0.0
            lines.append(f"{block:<12} {space:<7} {first:#12x} {size:>15,} {count:>8} {peak:>15,} {lost:>6.1%}")
        return lines

    def picture(self) -> dict[str, object]:
        """Plain data for `fleet.report.run.address_map`: JSON values."""
        return {
            "steps": self.steps,
            "blocks": [{"name": b, "space": s, "first": f, "end": e} for b, (s, f, e) in self.bases.items()],
            "tenants": [
                {
                    "key": t.key,
                    "storage": t.storage,
                    "block": self.storages[t.storage].block,
                    "space": self.storages[t.storage].space,
                    "address": self.storages[t.storage].address,
                    "size": t.size,
                    "first": t.first,
                    "last": self.steps if t.last is None else t.last,
                }
                for t in self.tenants
            ],
        }


@dataclass
class _Room:
    """A storage while it can still grow."""

    name: str
    size: int
    part: int = 0
    lasting: bool = False


@dataclass
class _Block:
    name: str
    space: str
    rooms: list[_Room] = field(default_factory=list["_Room"])
    free: list[_Room] = field(default_factory=list["_Room"])

    def taken(self, part: int) -> int:
        """Bytes of a part that storages take."""
        return sum(r.size for r in self.rooms if r.part == part)


class Planner:
    """Takes tensors in the order of the steps that make them."""

    def __init__(self, blocks: Blocks, config: BuildConfig, spaces: Mapping[str, Space], device: str) -> None:
        """blocks: where each begins. spaces: the device's memories. device: its name, for messages.

        Raises ModelError for a block that is missing, follows an unknown one, or follows itself in a circle.
        """
        self.config, self.spaces, self.device = config, spaces, device
        self._bases = dict(blocks)
        _check_chains(self._bases)
        for name in config.pingpong:
            if name not in self._bases:
                what = f"setting 'pingpong' names '{name}', which is no block"
                raise ModelError(what, where=WHERE, hint=f"blocks are {', '.join(self._bases)}")
        self._blocks: dict[str, _Block] = {}
        self._live: dict[str, tuple[_Block, _Room, int, int]] = {}
        self._tenants: list[tuple[str, _Room, int, int, int | None]] = []

    def take(
        self, key: str, block: str, space: str, size: int, step: int, *, avoid: Collection[int] = (), lasting: bool = False
    ) -> str:
        """Room for a tensor from `step` on; the name of its storage.

        Args:
            key: unique; `free` takes it.
            block, space: where it goes. size: bytes, in every bank.
            step: from which it is alive; -1 before the first.
            avoid: parts of the space in which it must not stand.
            lasting: it is there before the first step and through all of them: nothing else ever stands where it does.

        Raises:
            ModelError: the block has no base, or other tensors of it stand in another memory.
            DeviceError: what the parts of the space hold does not fit.
        """
        found = self._block(block, space, key)
        size = round_up(max(size, 1), self._unit(space))
        again = self.config.ping_pong(block) and not lasting
        room = self._reused(found, size, avoid) if again else None
        room = room or self._new(found, key, size, avoid)
        room.lasting = lasting
        # What is not used again is kept through all runs: constants, caches.
        self._live[key] = found, room, size, step if again else -1
        return room.name

    def stage(self, block: str, space: str, size: int) -> str:
        """Room that is used only before the first step, when nothing else of a ping-pong block is: a storage that there is, where
        one is large enough; else the largest one grows.
        """
        found = self._block(block, space, "staging")
        size = round_up(size, self._unit(space))
        rooms = [r for r in found.rooms if not r.lasting]
        if not self.config.ping_pong(block) or not rooms:
            return self._new(found, "staging", size, ()).name
        enough = [r for r in rooms if r.size >= size]
        room = min(enough, key=lambda r: r.size) if enough else max(rooms, key=lambda r: r.size)
        room.size = max(room.size, size)
        return room.name

    def names(self) -> list[str]:
        """The storages so far."""
        return [room.name for block in self._blocks.values() for room in block.rooms]

    def part(self, key: str) -> int:
        """The part in which a living tensor stands."""
        return self._live[key][1].part

    def free(self, key: str, step: int) -> None:
        """The tensor is dead behind `step`. In a block without the ping-pong property it keeps its room to the end."""
        block, room, size, first = self._live[key]
        if self.config.ping_pong(block.name):
            del self._live[key]
            self._tenants.append((key, room, size, first, step))
            block.free.append(room)

    def finish(self, steps: int) -> StoragePlan:
        """The plan, with addresses. Whatever still lives, lives to the end.

        Raises:
            DeviceError: a block does not fit the device.
            ModelError: blocks meet.
        """
        tenants = [*self._tenants, *((key, room, size, first, None) for key, (_, room, size, first) in self._live.items())]
        storages: dict[str, GraphStorage] = {}
        bases: dict[str, tuple[str, int, int]] = {}
        for name in self._bases:
            self._place(name, storages, bases)
        used = {b: bases[b] for b in self._bases if b in self._blocks}
        self._check_apart(used)
        ordered = sorted(tenants, key=lambda t: t[3])
        return StoragePlan(storages, tuple(Tenant(k, r.name, size, f, e) for k, r, size, f, e in ordered), used, steps)

    # ---- rooms

    def _unit(self, space: str) -> int:
        return max(self.config.align, self.spaces[space].align)

    def _block(self, name: str, space: str, key: str) -> _Block:
        if name not in self._bases:
            raise ModelError(
                f"block '{name}' has no base address",
                where=f"{WHERE}, '{key}'",
                hint=f"blocks are {', '.join(self._bases)}",
            )
        if space not in self.spaces:
            raise DeviceError(f"no memory '{space}' for '{key}'", where=self.device)
        block = self._blocks.setdefault(name, _Block(name, space))
        if block.space != space:
            what = f"block '{name}' stands in {block.space}, '{key}' wants {space}"
            raise ModelError(what, where=WHERE, hint="give it a block of its own")
        return block

    def _reused(self, block: _Block, size: int, avoid: Collection[int]) -> _Room | None:
        """The smallest free room that is large enough, else the largest free one where it can grow."""
        allowed = [r for r in block.free if r.part not in avoid]
        enough = [r for r in allowed if r.size >= size]
        if enough:
            room = min(enough, key=lambda r: r.size)
        else:
            # Of several parts one may have room for the growth where the other has none.
            growing = [r for r in allowed if self._fits(block, r.part, size - r.size)]
            if not growing:
                return None
            room = max(growing, key=lambda r: r.size)
            room.size = size
        block.free.remove(room)
        return room

    def _new(self, block: _Block, key: str, size: int, avoid: Collection[int]) -> _Room:
        parts = [p for p in range(self.spaces[block.space].parts) if p not in avoid]
        part = next((p for p in parts if self._fits(block, p, size)), None)
        if part is None:
            raise DeviceError(self._full(block, size, avoid), where=f"{WHERE}, block '{block.name}', '{key}'")
        room = _Room(f"{block.name}{len(block.rooms)}", size, part)
        block.rooms.append(room)
        return room

    def _fits(self, block: _Block, part: int, more: int) -> bool:
        """Whether a part can take more. A space of one part is looked at when all is known (`finish`)."""
        space = self.spaces[block.space]
        return space.parts == 1 or block.taken(part) + more <= space.size // space.parts

    def _full(self, block: _Block, size: int, avoid: Collection[int]) -> str:
        space = self.spaces[block.space]
        part = space.size // space.parts
        if len(set(avoid)) >= space.parts:
            return f"its operands stand in all {space.parts} parts of {block.space}, a result needs another one than they have"
        taken = [block.taken(p) for p in range(space.parts)]
        free = [f"{sum(r.size for r in block.free if r.part == p):,}" for p in range(space.parts)]
        return (
            f"{size:,} bytes of {block.space} do not fit: a part has {part:,}, "
            f"taken are {' and '.join(f'{t:,}' for t in taken)}, of which {' and '.join(free)} are free in pieces"
            + (f"; part {' and '.join(map(str, avoid))} has its operands" if avoid else "")
        )

    # ---- addresses

    def _place(
        self, name: str, storages: dict[str, GraphStorage], bases: dict[str, tuple[str, int, int]]
    ) -> tuple[str | None, int]:
        """(space, end) of a block, placed with those that it follows."""
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
        # A block that holds nothing is where it would be, in the memory of the one before it.
        if block is None:
            bases[name] = (before, first, first)
            return
        if before and before != block.space:
            what = f"block '{name}' follows '{base}', which stands in {before}, and stands in {block.space}"
            raise ModelError(what, where=WHERE, hint="give it an address of its own")
        space = self.spaces[block.space]
        if space.parts > 1 and (first != 0 or any(b.space == block.space for b in self._blocks.values() if b is not block)):
            what = f"block '{name}' does not have all of {block.space} from address 0 on, which stands in {space.parts} parts"
            raise ModelError(what, where=WHERE, hint="use one block for it, and give it the address 0")
        first = round_up(first, self._unit(block.space))
        end = first
        part_bytes = space.size // space.parts
        for part in range(space.parts):
            at = end if space.parts == 1 else first + part * part_bytes
            for room in block.rooms:
                if room.part == part:
                    storages[room.name] = GraphStorage(room.name, name, block.space, at, room.size, part)
                    at += room.size
                    if at > space.size:
                        raise DeviceError(
                            self._too_large(block, room, at, first), where=f"{WHERE}, block '{name}'", hint=_HINT.get(block.space)
                        )
            end = max(end, at)
        bases[name] = (block.space, first, end)

    def _too_large(self, block: _Block, room: _Room, end: int, first: int) -> str:
        bank = " a bank" if block.space == "hbm" else ""
        has = f"{self.device} has {self.spaces[block.space].size:#x} of {block.space}{bank}"
        whole = f"the block begins at {first:#x} and takes {sum(r.size for r in block.rooms):,} bytes{bank}"
        return f"storage '{room.name}' of {room.size:,} bytes{bank} ends at {end:#x}, {has}; {whole}"

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
