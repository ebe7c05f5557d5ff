"""Pictures of a generation's page, drawn from plain numbers."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from fleet.report.pictures.style import HATCHES, INK, MARKERS, PALETTE, canvas, label, thousands_formatter, to_svg


def lines(
    series: Mapping[str, Sequence[tuple[float, float]]], x_axis: str, y_axis: str, name: str, description: str, *, zero: bool = True
) -> str:
    """Draw one line with marks per series of (x, y). zero: the value axis begins at 0."""
    from matplotlib.ticker import MaxNLocator

    with canvas(8.2, 2.9) as (figure, axes):
        for k, (text, points) in enumerate(series.items()):
            axes.plot(
                [x for x, _ in points], [y for _, y in points], marker=MARKERS[k % len(MARKERS)], markersize=4.5,
                color=PALETTE[k % len(PALETTE)], linestyle=("-", "--", ":", "-.")[k % 4], linewidth=1.4, label=label(text, 40),
            )  # fmt: skip
        if zero:
            axes.set_ylim(0, 1.08 * max((y for points in series.values() for _, y in points), default=1.0))
        axes.set_xlabel(x_axis)
        axes.set_ylabel(y_axis)
        axes.yaxis.set_major_formatter(thousands_formatter())
        axes.xaxis.set_major_locator(MaxNLocator(integer=True))
        axes.grid()
        figure.legend(loc="outside upper left", ncols=3, fontsize=8.5)
        return to_svg(figure, name, description)


def sqnr_lines(series: Mapping[str, Sequence[float]], names: Sequence[str], name: str, description: str) -> str:
    """Draw the SQNR in dB after each block; `names` are below the axis."""
    points = {text: list(enumerate(values)) for text, values in series.items()}
    with canvas(8.2, 2.9) as (figure, axes):
        for k, (text, values) in enumerate(points.items()):
            axes.plot(
                [x for x, _ in values], [y for _, y in values], marker=MARKERS[k % len(MARKERS)], markersize=4,
                color=PALETTE[k % len(PALETTE)], linestyle=("-", "--", ":")[k % 3], linewidth=1.4, label=label(text, 60),
            )  # fmt: skip
        every = max(1, len(names) // 16)
        axes.set_xticks(range(0, len(names), every), [names[i] for i in range(0, len(names), every)])
        axes.set_xlabel("after block")
        axes.set_ylabel("SQNR (dB), higher is better")
        axes.grid()
        figure.legend(loc="outside upper left", ncols=1, fontsize=8.5)
        return to_svg(figure, name, description)


def critical_path(rows: Sequence[tuple[str, str, int, int, int]], name: str, description: str) -> str:
    """Draw instructions on the clock: (node, unit, start, end, own cycles), one line per unit.

    The cycles that a commit adds are filled; those that overlap an earlier one are an outline.
    """
    units = list(dict.fromkeys(unit for _, unit, *_ in rows))
    with canvas(8.2, 1.1 + 0.42 * max(len(units), 1)) as (figure, axes):
        for k, unit in enumerate(units):
            mine = [r for r in rows if r[1] == unit]
            axes.barh(
                [k] * len(mine), [end - start for _, _, start, end, _ in mine], left=[start for _, _, start, _, _ in mine],
                height=0.7, color="none", edgecolor=INK, linewidth=0.4,
            )  # fmt: skip
            axes.barh(
                [k] * len(mine), [own for *_, own in mine], left=[end - own for _, _, _, end, own in mine], height=0.7,
                color=PALETTE[k % len(PALETTE)], hatch=HATCHES[k % len(HATCHES)], edgecolor=INK, linewidth=0.3,
            )  # fmt: skip
        axes.set_yticks(range(len(units)), [label(u) for u in units])
        axes.set_ylim(len(units) - 0.4, -0.6)
        axes.set_xlabel("cycles from the block's first commit on")
        axes.xaxis.set_major_formatter(thousands_formatter())
        axes.grid(axis="x")
        return to_svg(figure, name, description)
