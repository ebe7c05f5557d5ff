"""The memory plan of a graph: which storage every tensor and constant stands in, and at which address every storage begins.

A block ("runtime") has a piece of a memory, or all of one. What it holds comes in two steps. Values that a step computes or is
given share memory where their lives allow it, if the block has the ping-pong property; else each lives forever. Constants stand
behind them. A storage ("runtime0") is an offset of the block at which something stands. Addresses are known when the sizes of all
blocks are (`Planner.finish`), as a block may follow another one.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass, field
from itertools import pairwise
from typing import Any

from fleet.errors import DeviceError, ModelError
from fleet.sdk.tasks import Space
from fleet.targets.graph.settings import NEEDED_BLOCKS, Blocks, BuildConfig
from fleet.targets.liveness import FOREVER, Life, live_bytes
from fleet.targets.planner import SharedRoom, round_up, share

__all__ = ["GraphStorage", "Planner", "StoragePlan", "Tenant"]

WHERE = "memory plan"


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
    """What stands in a storage, which may be larger. Step -1: before the first."""

    key: str
    storage: str
    life: Life


@dataclass(frozen=True)
class StoragePlan:
    """The finished plan.

    Attributes:
        storages: name -> storage, block by block, ascending in each; two of a block may overlap.
        tenants: in the order in which they begin.
        bases: block -> (space, first byte, behind the last byte).
        steps: how many there are.
    """

    storages: Mapping[str, GraphStorage]
    tenants: tuple[Tenant, ...]
    bases: Mapping[str, tuple[str, int, int]]
    steps: int

    def peak(self, block: str) -> int:
        """The most bytes of a block that are alive at once."""
        return live_bytes(t.life for t in self.tenants if self.storages[t.storage].block == block)

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
                    "size": t.life.size,
                    "first": max(t.life.first, -1),
                    "last": min(t.life.last, self.steps),
                }
                for t in self.tenants
            ],
        }


LOADING = -2
"""The step in which constants come into memory, before inputs do (-1)."""


@dataclass
class _Storage:
    name: str
    size: int


@dataclass
class _Block:
    """What stands in a block: lives and places (part, offset in it) by key; storages by place.

    rooms: one a part, of several. shared: bytes up to the end of what was placed; end: behind all that stands there.
    """

    name: str
    space: str
    lives: dict[str, Life] = field(default_factory=dict[str, Life])
    places: dict[str, tuple[int, int]] = field(default_factory=dict[str, tuple[int, int]])
    storages: dict[tuple[int, int], _Storage] = field(default_factory=dict[tuple[int, int], _Storage])
    rooms: list[SharedRoom] = field(default_factory=list[SharedRoom])
    shared: int = 0
    end: int = 0

    def stand(self, key: str, life: Life, place: tuple[int, int]) -> str:
        """Gives something its storage: its name."""
        storage = self.storages.setdefault(place, _Storage(f"{self.name}{len(self.storages)}", 0))
        storage.size, self.end = max(storage.size, life.size), max(self.end, place[1] + life.size)
        self.lives[key], self.places[key] = life, place
        return storage.name


class Planner:
    """First `place` for all that a step has, then `settle`; then `take` for constants, and `finish`."""

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
        self._of: dict[str, _Block] = {}

    def place(
        self, key: str, block: str, space: str, size: int, first: int, last: int, *,
        avoid: Collection[int] = (), prefer: int | None = None,
    ) -> None:  # fmt: skip
        """Room for what a step has, from step `first` to `last`; in a block without the ping-pong property, forever.

        Args:
            key: unique.
            block, space: where it goes. size: bytes, in every bank.
            avoid: parts of the space in which it must not stand. prefer: where it should.

        Raises:
            ModelError: the block has no base, or other tensors of it stand in another memory.
            DeviceError: what the parts of the space hold does not fit.
        """
        found, unit = self._block(block, space, key), self._unit(space)
        size = round_up(max(size, 1), unit)
        life = Life(size, first, last) if self.config.ping_pong(block) else Life(size, LOADING, FOREVER)
        parts = self.spaces[space].parts
        if parts > 1:
            # What is computed later depends on whether and where this fits.
            found.rooms = found.rooms or [SharedRoom(unit) for _ in range(parts)]
            allowed = sorted((p for p in range(parts) if p not in avoid), key=lambda p: p != prefer)
            free = {p: found.rooms[p].free(life) for p in allowed}
            part = next((p for p, at in free.items() if at + size <= self.spaces[space].size // parts), None)
            if part is None:
                raise DeviceError(self._full(found, life, avoid), where=f"{WHERE}, block '{block}', '{key}'")
            found.rooms[part].take(life, free[part])
            found.places[key] = part, free[part]
        found.lives[key], self._of[key] = life, found

    def part(self, key: str) -> int:
        """The part in which something stands, of a space with several."""
        return self._of[key].places[key][0]

    def settle(self) -> None:
        """All that was placed gets its storage."""
        for block in self._blocks.values():
            if not block.rooms:
                block.places = {k: (0, at) for k, at in share(block.lives, self._unit(block.space)).offsets.items()}
            for key in sorted(block.places, key=lambda key: block.places[key]):
                block.stand(key, block.lives[key], block.places[key])
            block.shared = block.end

    def storage(self, key: str) -> str:
        """The name of the storage in which something stands, when all is settled."""
        block = self._of[key]
        return block.storages[block.places[key]].name

    def take(self, key: str, block: str, space: str, size: int) -> str:
        """Room that nothing shares, for a constant, behind all that is there: the name of its storage. Raises as `place`."""
        found = self._block(block, space, key)
        life = Life(round_up(max(size, 1), self._unit(space)), LOADING, FOREVER)
        return found.stand(key, life, (0, found.end))

    def stage(self, block: str, space: str, size: int) -> str:
        """Room that is used only while constants come into memory, when nothing else of the block is: the name of its storage."""
        found = self._block(block, space, "staging")
        life = Life(round_up(size, self._unit(space)), LOADING, LOADING)
        behind = life.size > found.shared < found.end
        return found.stand("staging", life, (0, found.end if behind else 0))

    def names(self) -> list[str]:
        """The storages so far."""
        return [storage.name for block in self._blocks.values() for storage in block.storages.values()]

    def finish(self, steps: int) -> StoragePlan:
        """The plan, with addresses.

        Raises:
            DeviceError: a block does not fit the device.
            ModelError: blocks meet.
        """
        storages: dict[str, GraphStorage] = {}
        bases: dict[str, tuple[str, int, int]] = {}
        for name in self._bases:
            self._place(name, storages, bases)
        used = {b: bases[b] for b in self._bases if b in self._blocks}
        self._check_apart(used)
        tenants = [Tenant(k, b.storages[at].name, b.lives[k]) for b in self._blocks.values() for k, at in b.places.items()]
        return StoragePlan(storages, tuple(sorted(tenants, key=lambda t: t.life.first)), used, steps)

    # ---- blocks

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

    def _full(self, block: _Block, life: Life, avoid: Collection[int]) -> str:
        space = self.spaces[block.space]
        if len(set(avoid)) >= space.parts:
            return f"its operands stand in all {space.parts} parts of {block.space}, a result needs another one than they have"
        part = f"a part has {space.size // space.parts:,}, beside what lives meanwhile"
        operands = f"; part {' and '.join(map(str, avoid))} has its operands" if avoid else ""
        return f"{life.size:,} bytes of {block.space} do not fit: {part}{operands}"

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
        first = end = round_up(first, self._unit(block.space))
        part_bytes = space.size // space.parts
        for (part, at), room in sorted(block.storages.items(), key=lambda item: item[0]):
            storage = GraphStorage(room.name, name, block.space, first + part * part_bytes + at, room.size, part)
            storages[room.name], end = storage, max(end, storage.end)
        if end > space.size:
            raise DeviceError(
                self._too_large(block, storages, first, end), where=f"{WHERE}, block '{name}'", hint=_HINT.get(block.space)
            )
        bases[name] = (block.space, first, end)

    def _too_large(self, block: _Block, storages: Mapping[str, GraphStorage], first: int, end: int) -> str:
        bank = " a bank" if block.space == "hbm" else ""
        size = self.spaces[block.space].size
        over = next(storages[s.name] for s in block.storages.values() if storages[s.name].end > size)
        has = f"{self.device} has {size:#x} of {block.space}{bank}"
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
