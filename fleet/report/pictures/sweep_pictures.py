"""Pictures of a sweep: two figures of every point against each other, and the front."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from fleet.report.pictures.style import INK, MARKERS, PALETTE, canvas, label, thousands_formatter, to_svg


@dataclass(frozen=True)
class SweepSeries:
    """The points of one memory model: (x, y, whether on the front)."""

    name: str
    points: tuple[tuple[float, float, bool], ...]


def front_picture(series: Sequence[SweepSeries], axes_text: tuple[str, str], name: str, description: str) -> str:
    """Draw points, those of the front filled and larger. axes_text: of x and y. name: prefix of the ids in the page."""
    with canvas(7.2, 4.0) as (figure, axes):
        for k, one in enumerate(series):
            colour, marker = PALETTE[k % len(PALETTE)], MARKERS[k % len(MARKERS)]
            others = [p for p in one.points if not p[2]]
            front = sorted(p for p in one.points if p[2])
            axes.scatter(
                [p[0] for p in others], [p[1] for p in others], s=18, marker=marker, facecolors="none", edgecolors=colour,
                linewidths=0.9,
            )  # fmt: skip
            axes.scatter(
                [p[0] for p in front], [p[1] for p in front], s=42, marker=marker, color=colour, edgecolors=INK, linewidths=0.6,
                label=f"{label(one.name)}: front",
            )  # fmt: skip
        axes.set_xlabel(axes_text[0])
        axes.set_ylabel(axes_text[1])
        axes.xaxis.set_major_formatter(thousands_formatter())
        axes.grid()
        figure.legend(loc="outside upper left", ncols=3, fontsize=8.5)
        return to_svg(figure, name, description)
