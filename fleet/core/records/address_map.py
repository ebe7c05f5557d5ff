"""Address maps of programs and graphs: ranges of a device's memories with their lifetimes; stored, listed and drawn."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from fleet.core.codec import Json, decode, encode_record

Lived = tuple[int, int, int]
"""Bytes, and the first and last step in which they are needed: `fleet.targets.liveness.Life`."""


@dataclass(frozen=True)
class Piece:
    """A tensor or constant: `size` bytes at `address` of a memory, alive from step `first` to the end of step `last`."""

    key: str
    block: str
    space: str
    address: int
    size: int
    first: int
    last: int


@dataclass(frozen=True)
class _Stored:
    steps: int
    tenants: tuple[Piece, ...]


@dataclass(frozen=True)
class AddressMap:
    """The address map. steps: number of steps; a piece that is there before the first one begins at -1.

    pieces: `last` is at most `steps`, whatever stays longer.
    """

    steps: int
    pieces: tuple[Piece, ...]

    @classmethod
    def planned(cls, steps: int, lives: Iterable[tuple[str, str, str, int, Lived]]) -> AddressMap:
        """The map of a plan. lives: (key, block, space, address, life) of every piece; a life may exceed the steps."""
        pieces = (
            Piece(key, block, space, at, size, max(first, -1), min(last, steps))
            for key, block, space, at, (size, first, last) in lives
        )
        return cls(steps, tuple(pieces))

    @classmethod
    def of(cls, stored: Mapping[str, Json]) -> AddressMap:
        """Read the stored form; other keys than its own are ignored. Raises ModelError if it does not fit."""
        own = {key: stored[key] for key in ("steps", "tenants") if key in stored}
        found = decode(_Stored, own, "address map", "stored form")
        return cls(found.steps, found.tenants)

    def to_json(self) -> dict[str, Json]:
        """The stored form: JSON values."""
        return {"steps": self.steps, "tenants": [encode_record(piece) for piece in self.pieces]}

    @property
    def spaces(self) -> tuple[str, ...]:
        """The memories that hold something, by name."""
        return tuple(sorted({p.space for p in self.pieces}))

    @property
    def blocks(self) -> tuple[tuple[str, str, int], ...]:
        """Every block with its memory and the bytes from its first piece to the end of its last."""
        found: dict[tuple[str, str], list[Piece]] = {}
        for piece in self.pieces:
            found.setdefault((piece.block, piece.space), []).append(piece)
        return tuple(
            (block, space, max(p.address + p.size for p in held) - min(p.address for p in held))
            for (block, space), held in found.items()
        )

    def within(self, *, space: str | None = None, block: str | None = None) -> AddressMap:
        """Only the pieces of a memory, or of a block."""
        kept = (p for p in self.pieces if (space is None or p.space == space) and (block is None or p.block == block))
        return AddressMap(self.steps, tuple(kept))

    @property
    def peak(self) -> int:
        """The most bytes that are alive in one step."""
        return live_bytes((p.size, p.first, p.last) for p in self.pieces)


def place_lines(places: Iterable[tuple[str, int, int, str]]) -> Iterator[str]:
    """The table of a memory map, by address. places: (space, address, bytes, name of the contents)."""
    yield "memory: space offset bytes what"
    for space, offset, size, what in sorted(places):
        yield f"  {space:4} {offset:#010x} {size:>10} {what}"


def when(life: Lived, moments: Sequence[str]) -> str:
    """The lifetime of a piece in words. moments: the operation or instruction of every step."""

    def moment(step: int) -> str:
        return "the beginning" if step < 0 else moments[step] if step < len(moments) else "the end"

    _, first, last = life
    return f", {moment(first)} to {moment(last)}"


def live_bytes(lives: Iterable[Lived]) -> int:
    """The most bytes that are needed at one step: no plan takes less."""
    changes = sorted(change for size, first, last in lives for change in ((first, size), (last + 1, -size)))
    most = now = 0
    for _, change in changes:
        now += change
        most = max(most, now)
    return most
