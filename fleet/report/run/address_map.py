"""Draw the address map over time: the contents of device memory at each step.

`AccelProgram.memory_picture` and the `Plan.picture` of a graph give the plain form: JSON values, stored with a result.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from fleet.errors import ModelError
from fleet.report.frame.style import HATCHES, INK, PALETTE, canvas, standalone, to_svg

__all__ = ["AddressMap", "Piece", "draw", "picture_file"]

_UNITS: Sequence[tuple[int, str]] = ((1 << 30, "GiB"), (1 << 20, "MiB"), (1 << 10, "KiB"), (1, "bytes"))
_NAMED = 48
"""Most pieces of a memory that are outlined; with more, the picture would be all outline."""


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
class AddressMap:
    """The address map. steps: number of steps. pieces: in the order of the stored form."""

    steps: int
    pieces: tuple[Piece, ...]

    @classmethod
    def of(cls, stored: Mapping[str, Any]) -> AddressMap:
        """Read the stored form. Raises ModelError if it does not fit."""
        try:
            pieces = tuple(
                Piece(
                    str(t["key"]),
                    str(t["block"]),
                    str(t["space"]),
                    int(t["address"]),
                    int(t["size"]),
                    int(t["first"]),
                    int(t["last"]),
                )
                for t in stored["tenants"]
            )
            return cls(int(stored["steps"]), pieces)
        except (KeyError, TypeError, ValueError) as error:
            raise ModelError(f"not the stored form ({error!r})", where="address map") from None

    @property
    def spaces(self) -> tuple[str, ...]:
        """The memories that hold something, by name."""
        return tuple(sorted({p.space for p in self.pieces}))


def draw(found: AddressMap, space: str, name: str = "map") -> str:
    """Draw one memory as `<svg>`: addresses upwards, steps to the right, one colour per block.

    Raises ModelError if the memory holds nothing.
    """
    pieces = [p for p in found.pieces if p.space == space]
    if not pieces:
        raise ModelError(f"nothing stands in '{space}'", where="address map", hint=f"there are {', '.join(found.spaces)}")
    blocks = list(dict.fromkeys(p.block for p in sorted(pieces, key=lambda p: p.address)))
    low, end = min(p.address for p in pieces), max(p.address + p.size for p in pieces)
    unit, called = next((u, n) for u, n in _UNITS if end >= u or u == 1)
    steps = max(found.steps, 1)
    with canvas(8.2, 4.2) as (figure, axes):
        from matplotlib.patches import Rectangle

        axes.set_xlim(-1, steps)
        axes.set_ylim(low / unit, (end + (end - low) * 0.02) / unit)
        outlined = len(pieces) <= _NAMED
        styles: dict[str, dict[str, Any]] = {
            block: {
                "facecolor": PALETTE[k % len(PALETTE)],
                "hatch": HATCHES[k % len(HATCHES)] if outlined else "",
                "edgecolor": INK,
            }
            for k, block in enumerate(blocks)
        }
        line = 0.5 if outlined else 0.15
        for n, p in enumerate(pieces):
            left, right = max(p.first, -1), min(p.last + 1, steps)
            corner, size = (left, p.address / unit), (right - left, p.size / unit)
            axes.add_patch(Rectangle(corner, *size, linewidth=line, gid=f"piece-{n}", **styles[p.block]))
        axes.set_xlabel("step")
        axes.set_ylabel(f"address in {space}{', every port' if space == 'hbm' else ''} [{called}]")
        handles = [Rectangle((0, 0), 1, 1, linewidth=0.5, **styles[block]) for block in blocks]
        axes.legend(handles, blocks, loc="center left", bbox_to_anchor=(1.0, 0.5))
        titles = {f"piece-{n}": f"{p.key}: {p.size:,} bytes at {p.address:#x}" for n, p in enumerate(pieces)}
        return to_svg(figure, name, describe(found, space), titles)


def picture_file(found: AddressMap, space: str) -> str:
    """Return the text of an .svg file with the picture of one memory. Raises ModelError if the memory holds nothing."""
    return standalone(draw(found, space))


def describe(found: AddressMap, space: str) -> str:
    """Describe the picture as text: bytes of each block, and the most that is alive in it at once."""
    parts: list[str] = []
    pieces = [p for p in found.pieces if p.space == space]
    for block in dict.fromkeys(p.block for p in pieces):
        mine = [p for p in pieces if p.block == block]
        low, high = min(p.address for p in mine), max(p.address + p.size for p in mine)
        parts.append(f"{block}: {high - low:,} bytes from {low:#x}, at most {peak(mine):,} alive")
    return f"Address map of {space} over {found.steps} steps. {'; '.join(parts)}."


def peak(pieces: Sequence[Piece]) -> int:
    """Return the most bytes that are alive in one step."""
    change: dict[int, int] = {}
    for p in pieces:
        change[p.first] = change.get(p.first, 0) + p.size
        change[p.last + 1] = change.get(p.last + 1, 0) - p.size
    most = now = 0
    for step in sorted(change):
        now += change[step]
        most = max(most, now)
    return most
