"""Which unit of the hardware works when: one lane a unit, one bar an instruction, from start to commit."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from fleet.cosim.result import CommitRow
from fleet.report._style import HATCHES, INK, PALETTE, canvas, label, thousands_formatter, to_svg

__all__ = ["Span", "spans_of", "timeline"]

_CHARACTER = 0.0085
"""Share of the picture's width that a character of a bar's name takes."""


class Span(NamedTuple):
    """One instruction: what it computes, the unit that does it, its cycles from start to commit."""

    lane: str
    name: str
    start: int
    end: int


def spans_of(rows: Sequence[CommitRow]) -> list[Span]:
    """Spans of the commits that have a clock, in program order; the lane is the hardware's unit, else the instruction's name."""
    return [
        Span(row.unit or row.instruction, row.ops[-1] if row.ops else row.instruction, row.start, row.end)
        for row in rows
        if row.start is not None and row.end is not None
    ]


def timeline(spans: Sequence[Span], name: str = "timeline") -> str:
    """Units over cycles as an SVG; names stand in bars that have room for them.

    Args:
        spans: at least one, in program order; lanes come in the order of their first span.
        name: prefix of the ids in the page.
    """
    lanes = list(dict.fromkeys(span.lane for span in spans))
    first, last = min(s.start for s in spans), max(s.end for s in spans)
    width = max(last - first, 1)
    with canvas(8.2, 0.95 + 0.42 * len(lanes)) as (figure, axes):
        for k, lane in enumerate(lanes):
            mine = [s for s in spans if s.lane == lane]
            axes.broken_barh(
                [(s.start - first, s.end - s.start) for s in mine],
                (k - 0.36, 0.72),
                facecolor=PALETTE[k % len(PALETTE)],
                edgecolor=INK,
                hatch=HATCHES[k % len(HATCHES)],
                linewidth=0.4,
            )
            for s in mine:
                text = label(s.name, 14)
                if (s.end - s.start) / width > _CHARACTER * (len(text) + 2):
                    axes.text(
                        (s.start + s.end) / 2 - first, k, text, ha="center", va="center", fontsize=7.5, color="black",
                        bbox={"boxstyle": "square,pad=0.12", "facecolor": "white", "edgecolor": "none", "alpha": 0.85},
                    )  # fmt: skip
        busy = [sum(s.end - s.start for s in spans if s.lane == lane) for lane in lanes]
        axes.set_yticks(range(len(lanes)), [f"{label(n)} ({100 * b / width:.0f} %)" for n, b in zip(lanes, busy, strict=True)])
        axes.set_ylim(len(lanes) - 0.4, -0.6)
        axes.set_xlim(0, width)
        axes.set_xlabel("cycles since the first start")
        axes.xaxis.set_major_formatter(thousands_formatter())
        axes.grid(axis="x")
        description = f"{len(spans)} instructions on {len(lanes)} units over {width:,} cycles."
        return to_svg(figure, name, description)
