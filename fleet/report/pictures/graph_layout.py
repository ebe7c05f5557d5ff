"""Lay out boxes in layers: each box below its inputs, edges as straight and with as few crossings as possible.

The usual steps (Sugiyama, Tagawa and Toda, 1981): layers by the longest path, a bend in each layer that an edge passes, order by
the middle of the neighbours, then places from left to right.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise

Key = tuple[str, int]
"""A box (its name, 0), or a bend: (name of the edge's source, layer)."""

_SWEEPS = 12


@dataclass(frozen=True)
class GraphLayout:
    """Places in points.

    Attributes:
        boxes: name -> (middle, top).
        paths: (from, to) -> points that the edge passes: (x, y of the upper end, y of the lower end).
        width, height: of the whole drawing.
    """

    boxes: Mapping[str, tuple[float, float]]
    paths: Mapping[tuple[str, str], Sequence[tuple[float, float, float]]]
    width: float
    height: float


def lay_out(
    sizes: Mapping[str, tuple[float, float]], args: Mapping[str, Sequence[str]], across: float = 18, down: float = 30
) -> GraphLayout:
    """Return the places of the boxes.

    Args:
        sizes: name -> (width, height), each box after all its inputs.
        args: name -> its input boxes.
        across, down: gap between boxes of a layer, and between layers.
    """
    layer: dict[str, int] = {}
    for name in sizes:
        layer[name] = 1 + max((layer[a] for a in args.get(name, ())), default=-1)
    first_use: dict[str, int] = {}
    for name in sizes:
        for a in args.get(name, ()):
            first_use[a] = min(first_use.get(a, layer[name]), layer[name])
    for name, at in first_use.items():  # boxes without inputs go right above their first use
        if not args.get(name):
            layer[name] = at - 1
    rows: list[list[Key]] = [[] for _ in range(max(layer.values(), default=0) + 1)]
    links: dict[Key, list[Key]] = {}
    for name in sizes:
        rows[layer[name]].append((name, 0))
        for a in args.get(name, ()):
            chain: list[Key] = [(a, 0), *((a, k) for k in range(layer[a] + 1, layer[name])), (name, 0)]
            for upper, lower in pairwise(chain):
                if lower[1] and lower not in links:
                    rows[lower[1]].append(lower)
                if lower not in links.setdefault(upper, []):
                    links[upper].append(lower)
                    links.setdefault(lower, [])
    above: dict[Key, list[Key]] = {}
    for upper, lowers in links.items():
        for lower in lowers:
            above.setdefault(lower, []).append(upper)
    widths = {key: sizes[key[0]][0] if not key[1] else 6.0 for row in rows for key in row}
    _order(rows, links, above)
    x = _across(rows, links, above, widths, across)
    tops, heights = list[float](), list[float]()
    y = 0.0
    for row in rows:
        tops.append(y)
        heights.append(max((sizes[k[0]][1] for k in row if not k[1]), default=10))
        y += heights[-1] + down
    boxes = {n: (x[n, 0], tops[layer[n]] + (heights[layer[n]] - sizes[n][1]) / 2) for n in sizes}
    paths = {
        (a, name): [(x[a, k], tops[k], tops[k] + heights[k]) for k in range(layer[a] + 1, layer[name])]
        for name in sizes
        for a in args.get(name, ())
    }
    width = max((x[k] + widths[k] / 2 for row in rows for k in row), default=0)
    return GraphLayout(boxes, paths, width, max(y - down, 0))


def _order(rows: list[list[Key]], links: Mapping[Key, Sequence[Key]], above: Mapping[Key, Sequence[Key]]) -> None:
    """Sort each layer by the middle of its neighbours, above and below in turn."""
    place = {k: (i + 0.5) / len(row) for row in rows for i, k in enumerate(row)}
    for sweep in range(_SWEEPS):
        downwards = sweep % 2 == 0
        neighbours = above if downwards else links
        for row in rows if downwards else reversed(rows):
            row.sort(key=lambda k, p=place, n=neighbours: _middle([p[o] for o in n.get(k, ())], p[k]))
            place.update({k: (i + 0.5) / len(row) for i, k in enumerate(row)})


def _middle(values: Sequence[float], default: float) -> float:
    return sum(values) / len(values) if values else default


def _across(
    rows: Sequence[Sequence[Key]], links: Mapping[Key, Sequence[Key]], above: Mapping[Key, Sequence[Key]],
    widths: Mapping[Key, float], gap: float,
) -> dict[Key, float]:  # fmt: skip
    """Return the middles of boxes and bends: near their neighbours, in the layer's order, never overlapping."""
    x: dict[Key, float] = {}
    for row in rows:
        at = 0.0
        for k in row:
            x[k] = at + widths[k] / 2
            at += widths[k] + gap
    for sweep in range(6 * _SWEEPS):
        for row in rows if sweep % 2 == 0 else reversed(rows):
            wanted = [_wanted(x, k, _around(k, sweep, links, above)) for k in row]
            for k, v in zip(row, _apart(wanted, [widths[k] for k in row], gap), strict=True):
                x[k] = v
    left = min((x[k] - widths[k] / 2 for row in rows for k in row), default=0)
    return {k: v - left for k, v in x.items()}


def _around(k: Key, sweep: int, links: Mapping[Key, Sequence[Key]], above: Mapping[Key, Sequence[Key]]) -> list[Key]:
    """Return the neighbours that decide: of one side in the first sweeps, later of both."""
    return [*(above.get(k, ()) if sweep % 2 == 0 or sweep > _SWEEPS else ()),
            *(links.get(k, ()) if sweep % 2 or sweep > _SWEEPS else ())]  # fmt: skip


def _wanted(x: Mapping[Key, float], k: Key, around: Sequence[Key]) -> float:
    """Return the middle of the neighbours; between bends an edge is drawn straight, so bends count more there."""
    weights = [8.0 if k[1] and o[1] else 1.0 for o in around]
    return sum(w * x[o] for w, o in zip(weights, around, strict=True)) / sum(weights) if around else x[k]


def _apart(wanted: Sequence[float], widths: Sequence[float], gap: float) -> list[float]:
    """Return places in order, at least a gap apart, with the least squared distance from those wanted (pool adjacent violators)."""
    offsets = [0.0]
    for a, b in pairwise(widths):
        offsets.append(offsets[-1] + (a + b) / 2 + gap)
    pools: list[tuple[float, int]] = []
    for value, offset in zip(wanted, offsets, strict=True):
        total, count = value - offset, 1
        while pools and pools[-1][0] / pools[-1][1] >= total / count:
            t, c = pools.pop()
            total, count = total + t, count + c
        pools.append((total, count))
    flat = [total / count for total, count in pools for _ in range(count)]
    return [v + o for v, o in zip(flat, offsets, strict=True)]
