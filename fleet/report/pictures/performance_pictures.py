"""Pictures of the performance section, drawn from plain numbers."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import NamedTuple

from fleet.report.pictures.accuracy_pictures import name_axis
from fleet.report.pictures.style import (
    HATCHES,
    INK,
    MARKERS,
    PALETTE,
    canvas,
    label,
    plain_formatter,
    thousands,
    thousands_formatter,
    to_svg,
)


class RooflinePoint(NamedTuple):
    """One point of a roofline: `macs` useful multiply-accumulates in `cycles`.

    bytes: memory -> bytes moved; the point is drawn at those of the memory that takes longest for its share.
    """

    number: int
    macs: float
    cycles: float
    bytes: Mapping[str, float]


def stacked_bars(
    rows: Sequence[str],
    parts: Mapping[str, Sequence[float]],
    axis: str,
    name: str,
    description: str,
    ends: Sequence[str] | None = None,
    hollow: str = "",
) -> str:
    """Draw one horizontal bar per row, made of the parts, with `ends` or else the row's total at its end.

    Args:
        rows: names from top to bottom.
        parts: legend text -> one value per row.
        axis: text of the value axis, with its unit.
        name: prefix of the ids in the page.
        description: for readers who cannot see it.
        ends: one text per row.
        hollow: the part that is drawn without a colour (nothing happened).
    """
    height = 1.15 + 0.3 * len(rows)
    with canvas(8.2, max(height, 1.9)) as (figure, axes):
        y = list(range(len(rows)))
        left = [0.0] * len(rows)
        for k, (text, values) in enumerate(parts.items()):
            axes.barh(
                y,
                [v or math.nan for v in values],  # a bar without width would still draw its outline
                left=left,
                height=0.68,
                color="none" if text == hollow else PALETTE[k % len(PALETTE)],
                hatch="" if text == hollow else HATCHES[k % len(HATCHES)],
                edgecolor=INK,
                linewidth=0.5,
                label=label(text, 40),
            )
            left = [a + b for a, b in zip(left, values, strict=True)]
        longest = max(left, default=0.0) or 1.0
        for i, total in enumerate(left):
            axes.text(total + 0.01 * longest, i, ends[i] if ends else thousands(total), va="center", ha="left", fontsize=8.5)
        axes.set_xlim(0, longest * 1.12)
        axes.set_ylim(len(rows) - 0.4, -0.6)
        axes.set_yticks(y, [label(r) for r in rows])
        axes.set_xlabel(axis)
        axes.xaxis.set_major_formatter(thousands_formatter())
        axes.grid(axis="x")
        figure.legend(loc="outside upper left", ncols=min(len(parts), 3), fontsize=8.5)
        return to_svg(figure, name, description)


def bars(names: Sequence[str], values: Sequence[float], axis: str, name: str, description: str) -> str:
    """Draw one horizontal bar per name, with its value at its end."""
    with canvas(8.2, max(0.75 + 0.28 * len(names), 1.5)) as (figure, axes):
        longest = max(values, default=0.0) or 1.0
        axes.barh(range(len(names)), values, height=0.66, color=PALETTE[0], edgecolor=INK, linewidth=0.5)
        for i, v in enumerate(values):
            axes.text(v + 0.01 * longest, i, thousands(v), va="center", ha="left", fontsize=8.5)
        axes.set_xlim(0, longest * 1.12)
        axes.set_ylim(len(names) - 0.4, -0.6)
        axes.set_yticks(range(len(names)), [label(n) for n in names])
        axes.set_xlabel(axis)
        axes.xaxis.set_major_formatter(thousands_formatter())
        axes.grid(axis="x")
        return to_svg(figure, name, description)


def port_balance(bytes_by_port: Sequence[float], name: str = "ports") -> str:
    """Draw the bytes moved by each HBM port, with the mean as a line."""
    count = len(bytes_by_port)
    with canvas(8.2, 2.6) as (figure, axes):
        mean = sum(bytes_by_port) / count if count else 0.0
        axes.bar(range(count), bytes_by_port, width=0.8, color=PALETTE[4], edgecolor=INK, linewidth=0.5)
        axes.axhline(mean, color=PALETTE[5], linestyle="--", linewidth=1.5, label=f"mean {thousands(mean)} bytes")
        axes.set_ylim(0, (max(bytes_by_port, default=0.0) or 1.0) * 1.1)
        axes.set_xlim(-0.7, count - 0.3)
        name_axis(axes, [str(i) for i in range(count)])
        axes.set_xlabel("HBM port")
        axes.set_ylabel("bytes moved")
        axes.yaxis.set_major_formatter(thousands_formatter())
        axes.grid(axis="y")
        figure.legend(loc="outside upper left", fontsize=8.5)
        spread = (max(bytes_by_port) / mean) if mean else 1.0
        return to_svg(figure, name, f"Bytes moved by each of {count} HBM ports; the busiest moves {spread:.2f} times the mean.")


def roofline(points: Sequence[RooflinePoint], peak: float, bandwidths: Mapping[str, float], name: str = "roofline") -> str:
    """Draw useful MACs per cycle against MACs per byte, below the machine's limits.

    Each point is drawn for the memory that limits it (where bytes / bandwidth is largest), in that memory's colour and mark, so
    that its distance from that memory's line is meaningful.

    Args:
        points: at most a few dozen, labelled with their numbers (a table beside the picture names them).
        peak: MACs per cycle of the array.
        bandwidths: memory -> bytes per cycle.
        name: prefix of the ids in the page.
    """
    placed = {memory: _placed(points, memory, bandwidths) for memory in bandwidths}
    everywhere = [p for found in placed.values() for p in found]
    xs = [x for _, x, _ in everywhere] + [peak / b for b in bandwidths.values()]
    low, high = (min(xs) / 4, max(xs) * 4) if xs else (0.1, 100.0)
    bottom = min([y for _, _, y in everywhere] + [low * b for b in bandwidths.values()] + [peak / 4]) / 2
    with canvas(8.2, 4.2) as (figure, axes):
        for k, (text, bandwidth) in enumerate(bandwidths.items()):
            ridge = peak / bandwidth
            axes.plot(
                [low, ridge],
                [low * bandwidth, peak],
                color=PALETTE[k % len(PALETTE)],
                linestyle=("-", "--", ":", "-.")[k % 4],
                marker=MARKERS[k % len(MARKERS)],
                markevery=[],
                linewidth=1.8,
                label=f"{label(text, 40)}: {bandwidth:,.0f} bytes/cycle",
            )
            for number, x, y in _merged(placed[text], low, high, bottom, peak * 2):
                axes.plot(
                    [x], [y], marker=MARKERS[k % len(MARKERS)], markersize=7, color=PALETTE[k % len(PALETTE)], markeredgecolor=INK
                )
                axes.annotate(number, (x, y), xytext=(7, -3), textcoords="offset points", fontsize=8.5, va="top")
        axes.axhline(peak, color=INK, linewidth=1.4, label=f"array: {peak:,.0f} MAC/cycle")
        axes.set_xscale("log", base=10)
        axes.set_yscale("log", base=10)
        axes.set_xlim(low, high)
        axes.set_ylim(bottom, peak * 2)
        for axis in (axes.xaxis, axes.yaxis):
            axis.set_major_formatter(plain_formatter())
        axes.set_xlabel("useful MACs per byte of the memory that limits it")
        axes.set_ylabel("useful MACs per cycle")
        axes.grid()
        figure.legend(loc="outside upper left", ncols=3, fontsize=8.5)
        return to_svg(figure, name, f"Roofline with {len(everywhere)} operations under a peak of {peak:,.0f} MACs per cycle.")


def _placed(points: Sequence[RooflinePoint], memory: str, bandwidths: Mapping[str, float]) -> list[tuple[int, float, float]]:
    """Return (number, MACs per byte, MACs per cycle) of the points that `memory` limits."""
    found: list[tuple[int, float, float]] = []
    for point in points:
        time = {m: point.bytes.get(m, 0.0) / b for m, b in bandwidths.items()}
        if point.macs > 0 and point.cycles > 0 and time[memory] > 0 and memory == max(time, key=lambda m: time[m]):
            found.append((point.number, point.macs / point.bytes[memory], point.macs / point.cycles))
    return found


def _merged(
    points: Sequence[tuple[int, float, float]], low: float, high: float, bottom: float, top: float
) -> list[tuple[str, float, float]]:
    """Merge the numbers of points that would overlap into one label ("1, 3"), so that labels stay readable."""
    x_room, y_room = 0.055 * math.log(high / low), 0.05 * math.log(top / bottom)
    groups: list[tuple[list[int], float, float]] = []
    for number, x, y in points:
        for numbers, gx, gy in groups:
            if abs(math.log(x / gx)) < x_room and abs(math.log(y / gy)) < y_room:
                numbers.append(number)
                break
        else:
            groups.append(([number], x, y))
    return [(_number_list(numbers), x, y) for numbers, x, y in groups]


def _number_list(numbers: Sequence[int]) -> str:
    shown = ", ".join(map(str, numbers[:4]))
    return shown + (f" + {len(numbers) - 4}" if len(numbers) > 4 else "")
