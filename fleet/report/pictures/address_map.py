"""Draw the address map over time (`fleet.core.records.address_map`): the contents of device memory at each step."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from fleet.core.records.address_map import AddressMap
from fleet.errors import ModelError
from fleet.report.pictures.style import HATCHES, INK, PALETTE, canvas, standalone, to_svg

_UNITS: Sequence[tuple[int, str]] = ((1 << 30, "GiB"), (1 << 20, "MiB"), (1 << 10, "KiB"), (1, "bytes"))
_NAMED = 48
"""Most pieces of a memory that are outlined; with more, the picture would be all outline."""


def draw(found: AddressMap, space: str, name: str = "map") -> str:
    """Draw one memory as `<svg>`: addresses upwards, steps to the right, one colour per block.

    Raises ModelError if the memory holds nothing.
    """
    pieces = found.within(space=space).pieces
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
    drawn = found.within(space=space)
    for block in dict.fromkeys(p.block for p in drawn.pieces):
        mine = drawn.within(block=block)
        low, high = min(p.address for p in mine.pieces), max(p.address + p.size for p in mine.pieces)
        parts.append(f"{block}: {high - low:,} bytes from {low:#x}, at most {mine.peak:,} alive")
    return f"Address map of {space} over {found.steps} steps. {'; '.join(parts)}."
