"""Draw which unit of the hardware works when: one lane per unit, one bar per instruction, from start to commit.

The outline before a bar is the time in which an earlier instruction was still running.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from fleet.compare.diverged import CommitRow
from fleet.report.pictures.style import HATCHES, INK, PALETTE, canvas, label, thousands_formatter, to_svg

_CHARACTER = 0.0085
"""Width of a character of a bar's name, as a share of the picture's width."""


class TimelineSpan(NamedTuple):
    """One instruction: its unit, what it computes, its cycles from start to commit.

    oldest: the cycle from which no earlier instruction is running; before it, it can only read and compute ahead, or wait.
    """

    lane: str
    name: str
    start: int
    oldest: int
    end: int


def spans_of(rows: Sequence[CommitRow]) -> list[TimelineSpan]:
    """Return the spans of commits with a clock, in program order; the lane is the hardware's unit, else the instruction's name."""
    found: list[TimelineSpan] = []
    before = 0
    for row in rows:
        if row.start is not None and row.end is not None:
            name = row.ops[-1] if row.ops else row.instruction
            found.append(TimelineSpan(row.unit or row.instruction, name, row.start, max(row.start, min(before, row.end)), row.end))
            before = row.end
    return found


def timeline(spans: Sequence[TimelineSpan], name: str = "timeline") -> str:
    """Draw units over cycles as an SVG; bars with enough room contain their names.

    Args:
        spans: at least one, in program order; lanes are in the order of their first span.
        name: prefix of the ids in the page.
    """
    lanes = list(dict.fromkeys(span.lane for span in spans))
    first, last = min(s.start for s in spans), max(s.end for s in spans)
    width = max(last - first, 1)
    with canvas(8.2, 0.95 + 0.42 * len(lanes)) as (figure, axes):
        for k, lane in enumerate(lanes):
            mine = [s for s in spans if s.lane == lane]
            colour, hatch = PALETTE[k % len(PALETTE)], HATCHES[k % len(HATCHES)]
            axes.broken_barh(
                [(s.start - first, s.oldest - s.start) for s in mine if s.oldest > s.start],
                (k - 0.2, 0.4), facecolor="none", edgecolor=colour, linewidth=0.9,
            )  # fmt: skip
            axes.broken_barh(
                [(s.oldest - first, s.end - s.oldest) for s in mine],
                (k - 0.36, 0.72), facecolor=colour, edgecolor=INK, hatch=hatch, linewidth=0.4,
            )  # fmt: skip
            for s in mine:
                text = label(s.name, 14)
                if (s.end - s.oldest) / width > _CHARACTER * (len(text) + 2):
                    axes.text(
                        (s.oldest + s.end) / 2 - first, k, text, ha="center", va="center", fontsize=7.5, color="black",
                        bbox={"boxstyle": "square,pad=0.12", "facecolor": "white", "edgecolor": "none", "alpha": 0.85},
                    )  # fmt: skip
        busy = [sum(s.end - s.oldest for s in spans if s.lane == lane) for lane in lanes]
        axes.set_yticks(range(len(lanes)), [f"{label(n)} ({100 * b / width:.0f} %)" for n, b in zip(lanes, busy, strict=True)])
        axes.set_ylim(len(lanes) - 0.4, -0.6)
        axes.set_xlim(0, width)
        axes.set_xlabel("cycles since the first start")
        axes.xaxis.set_major_formatter(thousands_formatter())
        axes.grid(axis="x")
        description = f"{len(spans)} instructions on {len(lanes)} units over {width:,} cycles."
        return to_svg(figure, name, description)
