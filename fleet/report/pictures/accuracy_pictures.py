"""Pictures of the accuracy section, drawn from plain numbers."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence

from fleet.report.pictures.style import HATCHES, INK, MARKERS, PALETTE, canvas, label, thousands_formatter, to_svg


def sqnr_by_depth(
    operations: Sequence[str], series: Mapping[str, Sequence[float | None]], name: str = "sqnr", beneath: str = ""
) -> str:
    """Draw the SQNR in dB against the depth of the operation, one line per cause of error.

    Args:
        operations: names in program order.
        series: legend text -> one value per operation in dB; None without a value, infinity if nothing differs (drawn hollow on
            a line above all finite values, marked "exact").
        name: prefix of the ids in the page.
        beneath: legend text of the series that is drawn as a broad band below the others (it often coincides with one).

    Returns:
        An `<svg>` element.
    """
    finite = [v for values in series.values() for v in values if v is not None and math.isfinite(v)]
    low, high = (min(finite), max(finite)) if finite else (0.0, 60.0)
    room = max(high - low, 10.0)
    ceiling = high + 0.15 * room
    with canvas(8.2, 3.7) as (figure, axes):
        any_exact = False
        for k, (text, values) in enumerate(series.items()):
            if text == beneath:
                at = [i for i, v in enumerate(values) if v is not None and math.isfinite(v)]
                band = [v for v in values if v is not None and math.isfinite(v)]
                colour = PALETTE[k % len(PALETTE)]
                axes.plot(at, band, color=colour, linewidth=6, alpha=0.45, solid_capstyle="round", zorder=1, label=label(text, 60))
                continue
            x = [i for i, v in enumerate(values) if v is not None and not math.isnan(v)]
            y = [v for v in values if v is not None and not math.isnan(v)]
            exact = [math.isinf(v) and v > 0 for v in y]
            any_exact = any_exact or any(exact)
            drawn = [ceiling if e else max(v, low) for v, e in zip(y, exact, strict=True)]
            colour, marker = PALETTE[k % len(PALETTE)], MARKERS[k % len(MARKERS)]
            axes.plot(x, drawn, color=colour, linewidth=1.2, linestyle=("-", "--", ":", "-.")[k % 4], zorder=2)
            for hollow in (False, True):
                px = [i for i, e in zip(x, exact, strict=True) if e == hollow]
                py = [v for v, e in zip(drawn, exact, strict=True) if e == hollow]
                face = "none" if hollow else colour
                axes.plot(px, py, linestyle="none", marker=marker, markersize=6, markerfacecolor=face, markeredgecolor=colour)
            axes.plot(
                [], [], color=colour, marker=marker, linestyle=("-", "--", ":", "-.")[k % 4], linewidth=1.2, label=label(text, 60)
            )
        if any_exact:
            axes.axhline(ceiling, color=INK, linewidth=0.6, linestyle=(0, (1, 3)), zorder=1)
            axes.text(1.005, ceiling, "exact", transform=axes.get_yaxis_transform(), va="center", ha="left")
        axes.set_ylim(low - 0.12 * room, ceiling + 0.08 * room)
        axes.set_xlim(-0.5, max(len(operations) - 0.5, 0.5))
        axes.set_ylabel("SQNR (dB), higher is better")
        axes.set_xlabel("operation, in program order")
        name_axis(axes, operations)
        axes.grid(axis="y")
        if series:
            figure.legend(loc="outside upper left", ncols=min(len(series), 2), fontsize=8.5)
        worst = f"; lowest {low:.1f} dB" if finite else ""
        return to_svg(figure, name, f"Signal to quantisation noise ratio over {len(operations)} operations{worst}.")


def ulp_distribution(
    edges: Sequence[float],
    counts: Mapping[str, Sequence[int]],
    bound: float | None,
    unit: str = "ULP of the operation's dtype",
    name: str = "ulp",
) -> str:
    """Draw the number of elements by distance, on two logarithmic axes, with the derived bound as a line.

    Args:
        edges: the buckets' upper edges in `unit`, ascending; the first bucket holds exactly 0 if its edge is 0.
        counts: legend text -> elements per bucket (as many as `edges`).
        bound: the derived bound in the same unit (the median over the elements); None if no bound applies.
        unit: of the x axis.
        name: prefix of the ids in the page.
    """
    total = sum(sum(values) for values in counts.values())
    with canvas(8.2, 3.4) as (figure, axes):
        width = 0.8 / max(len(counts), 1)
        for k, (text, values) in enumerate(counts.items()):
            x = [i + (k - (len(counts) - 1) / 2) * width for i in range(len(values))]
            axes.bar(
                x,
                [v if v > 0 else math.nan for v in values],
                width=width,
                color=PALETTE[k % len(PALETTE)],
                hatch=HATCHES[k % len(HATCHES)],
                edgecolor=INK,
                linewidth=0.5,
                label=label(text, 60),
            )
        if bound is not None and math.isfinite(bound):
            place = _bucket_position(edges, bound)
            axes.axvline(place, color=PALETTE[5], linewidth=1.8, linestyle="--", label=f"derived bound (median): {bound:,.4g}")
        axes.set_yscale("symlog", linthresh=1)
        axes.set_ylim(bottom=0)
        axes.yaxis.set_major_formatter(thousands_formatter())
        axes.set_xlim(-0.7, len(edges) - 0.3)
        axes.set_xticks(
            range(len(edges)), [_edge_text(edges, i) for i in range(len(edges))], rotation=0 if len(edges) <= 12 else 45
        )
        axes.set_xlabel(f"distance from the reference ({unit})")
        axes.set_ylabel("elements (log scale)")
        axes.grid(axis="y")
        figure.legend(loc="outside upper left", ncols=2, fontsize=8.5)
        return to_svg(figure, name, f"Distribution of the error of {total} elements in {unit}.")


def name_axis(axes: object, names: Sequence[str], most: int = 32) -> None:
    """Put names on the x axis, slanted if long; only every n-th if there are more than `most`."""
    from matplotlib.axes import Axes

    assert isinstance(axes, Axes)
    step = max(1, math.ceil(len(names) / most))
    at = list(range(0, len(names), step))
    slanted = len(at) > 8 or max((len(n) for n in names), default=0) > 9
    axes.set_xticks(
        at,
        [label(names[i], 20) for i in at],
        rotation=40 if slanted else 0,
        ha="right" if slanted else "center",
        rotation_mode="anchor" if slanted else "default",
    )


def _bucket_position(edges: Sequence[float], value: float) -> float:
    """Return the position of `value` on an axis with equally wide buckets, interpolated in the logarithm."""
    for i, edge in enumerate(edges):
        if value <= edge:
            below = edges[i - 1] if i else 0.0
            if below <= 0.0 or edge <= below:
                return float(i) + (0.5 if value == edge else 0.0)
            return i - 0.5 + (math.log2(value) - math.log2(below)) / (math.log2(edge) - math.log2(below))
    return len(edges) - 0.5


def _edge_text(edges: Sequence[float], i: int) -> str:
    edge = edges[i]
    if edge == 0:
        return "0"
    if math.isinf(edge):
        return f"> {edges[i - 1]:g}" if i else "any"
    return f"≤ {edge:g}"
