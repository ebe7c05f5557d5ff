"""A computation graph as a picture: a box per call, below its inputs; repeated blocks are drawn once."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from html import escape

import numpy as np

from fleet.core.records.graph_row import GraphRow
from fleet.report.pictures.graph_layout import GraphLayout, lay_out
from fleet.report.pictures.style import PALETTE

"""A row of `fleet.ir.accel.rows.graph_rows`."""

MOST_BOXES = 400
"""Most boxes of a picture; further calls are left out, and counted."""

_FAMILIES: Sequence[tuple[str, str, frozenset[str]]] = (
    ("product with weights", PALETTE[0], frozenset({"mvm", "mvm_bn", "mvm_bn_res", "conv2d"})),
    ("attention and cache", PALETTE[1], frozenset({"trp_mvm", "f2w_mvm", "softmax", "dat_hbm", "transpose", "feature2weight"})),
    ("position", PALETTE[3], frozenset({"pos_emb", "rope"})),
    ("every element", PALETTE[2], frozenset({"add", "sub", "mul", "layer_norm", "activate", "argmax"})),
)
_OTHER = ("view, input, result", PALETTE[7])
_LINE, _CHARACTER, _PAD = 14.0, 6.3, 8.0


@dataclass(frozen=True)
class Repeat:
    """A block that repeats: calls first ... first + period - 1 of the rows occur `count` times in a row."""

    first: int
    period: int
    count: int


def repeats(rows: Sequence[GraphRow], most: int = 3) -> list[Repeat]:
    """Find the longest runs of equal blocks among the calls, by the number of calls saved; they do not overlap."""
    calls = [i for i, row in enumerate(rows) if row.kind in {"call", "view"}]
    known: dict[tuple[object, ...], int] = {}
    marks = np.array([known.setdefault(_signature(rows[i]), len(known)) for i in calls], np.int64)
    found: list[Repeat] = []
    free = [(0, len(marks))]
    while free and len(found) < most:
        start, end = free.pop()
        best = _longest(marks[start:end])
        if best is None:
            continue
        first, period, count = best
        found.append(Repeat(start + first, period, count))
        free += [(start, start + first), (start + first + period * count, end)]
    return sorted(found, key=lambda r: r.first)


def _signature(row: GraphRow) -> tuple[object, ...]:
    # The name of a weight contains its block, so only its size is compared.
    return row.op, row.shape, row.block, tuple(w.partition(" ")[2] for w in row.weights)


def _longest(marks: np.ndarray) -> tuple[int, int, int] | None:
    best, saved = None, 1
    for period in range(1, len(marks) // 2 + 1):
        equal = np.concatenate([[0], marks[:-period] == marks[period:], [0]]).astype(np.int8)
        edges = np.flatnonzero(np.diff(equal))
        for first, last in zip(edges[::2], edges[1::2], strict=True):
            count = int(last - first) // period + 1
            if count > 1 and period * (count - 1) > saved:
                best, saved = (int(first), period, count), period * (count - 1)
    return best


def graph_picture(rows: Sequence[GraphRow], name: str = "graph") -> str:
    """Return the graph as SVG text.

    Args:
        rows: of `fleet.ir.accel.rows.graph_rows`, at least one.
        name: prefix of the ids in the page.
    """
    shown, args, frames, left_out = _shown(rows)
    texts = {row.id: _text(row) for row in shown}
    sizes = {n: (max(len(t) for t in lines) * _CHARACTER + 2 * _PAD, len(lines) * _LINE + _PAD) for n, lines in texts.items()}
    layout = lay_out(sizes, args)
    margin, legend = 34.0, 34.0
    width, height = max(layout.width, 560) + 2 * margin, layout.height + 2 * margin + legend
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width:.0f} {height:.0f}" width="{width:.0f}" height="{height:.0f}" '
        f'font-family="DejaVu Sans, sans-serif" font-size="10.5" fill="currentColor" role="img" aria-label="computation graph">',
        f'<defs><marker id="{escape(name)}-tip" viewBox="0 0 8 8" refX="7" refY="4" markerWidth="7" markerHeight="7" orient="auto">'
        '<path d="M0 0 8 4 0 8z" fill="currentColor"/></marker></defs>',
        f'<g transform="translate({(width - layout.width) / 2:.1f} {margin:.1f})">',
        *(_frame(layout, sizes, names, args, count) for names, count in frames),
        *(_edge(layout, sizes, a, n, name) for n in texts for a in args[n]),
        *(_box(layout, sizes, row, texts[row.id]) for row in shown),
        "</g>",
        _legend(margin, height - 18, left_out),
        "</svg>",
    ]
    return "\n".join(parts) + "\n"


def _shown(rows: Sequence[GraphRow]) -> tuple[list[GraphRow], dict[str, list[str]], list[tuple[list[str], int]], int]:
    """Return (rows that are drawn, inputs of each, frames as (names, count), number of calls left out)."""
    calls = [row.id for row in rows if row.kind in {"call", "view"}]
    stands_for: dict[str, str] = {}  # a call of a later copy -> the same call of the first
    frames: list[tuple[list[str], int]] = []
    for r in repeats(rows):
        block = calls[r.first : r.first + r.period]
        frames.append((block, r.count))
        for k in range(r.period, r.period * r.count):
            stands_for[calls[r.first + k]] = block[k % r.period]
    shown = [row for row in rows if row.id not in stands_for]
    left_out = max(len(shown) - MOST_BOXES, 0)
    shown = shown[:MOST_BOXES]
    order: dict[str, int] = {row.id: i for i, row in enumerate(shown)}
    args: dict[str, list[str]] = {}
    for row in shown:
        taken = [stands_for.get(a, a) for a in row.args]
        # An input from the previous copy would be further down in the drawn copy; the frame stands for that edge.
        args[row.id] = list(dict.fromkeys(a for a in taken if a in order and order[a] < order[row.id]))
    return shown, args, [([n for n in block if n in order], count) for block, count in frames], left_out


def _text(row: GraphRow) -> list[str]:
    title = {"input": f"{row.id}", "result": "result"}.get(row.kind, f"{row.id} {row.op}")
    name = f"“{row.name}”" if row.name and row.kind == "call" else ""
    return [t for t in (title, name, *row.weights, row.shape) if t]


def _family(row: GraphRow) -> tuple[str, str]:
    return next(((title, colour) for title, colour, ops in _FAMILIES if row.op in ops), _OTHER)


def _box(layout: GraphLayout, sizes: Mapping[str, tuple[float, float]], row: GraphRow, lines: Sequence[str]) -> str:
    (x, y), (w, h) = layout.boxes[row.id], sizes[row.id]
    _, colour = _family(row)
    round_ = h / 2 if row.kind in {"input", "result"} else 3
    dashed = ' stroke-dasharray="4 3"' if row.kind == "view" else ""
    text = "".join(
        f'<text x="{x:.1f}" y="{y + _PAD / 2 + _LINE * (k + 0.75):.1f}" text-anchor="middle"{_weight(k)}>{escape(line)}</text>'
        for k, line in enumerate(lines)
    )
    title = escape(" ".join([*lines, f"in {row.block}"]))
    return (
        f"<g><title>{title}</title>"
        f'<rect x="{x - w / 2:.1f}" y="{y:.1f}" width="{w:.1f}" height="{h:.1f}" rx="{round_:.1f}" fill="{colour}" '
        f'fill-opacity="0.14" '
        f'stroke="{colour}" stroke-width="1.3"{dashed}/>{text}</g>'
    )


def _weight(line: int) -> str:
    return ' font-weight="bold"' if line == 0 else ' opacity="0.8"'


def _edge(layout: GraphLayout, sizes: Mapping[str, tuple[float, float]], a: str, b: str, name: str) -> str:
    (x0, y0), (x1, y1) = layout.boxes[a], layout.boxes[b]
    y0 += sizes[a][1]
    path = [f"M{x0:.1f} {y0:.1f}"]
    for x, top, bottom in layout.paths[a, b]:
        path.append(f"C{x0:.1f} {(y0 + top) / 2:.1f} {x:.1f} {(y0 + top) / 2:.1f} {x:.1f} {top:.1f}L{x:.1f} {bottom:.1f}")
        x0, y0 = x, bottom
    path.append(f"C{x0:.1f} {(y0 + y1) / 2:.1f} {x1:.1f} {(y0 + y1) / 2:.1f} {x1:.1f} {y1:.1f}")
    tip = f'marker-end="url(#{escape(name)}-tip)"'
    return f'<path d="{"".join(path)}" fill="none" stroke="currentColor" stroke-opacity="0.55" stroke-width="1" {tip}/>'


def _frame(
    layout: GraphLayout,
    sizes: Mapping[str, tuple[float, float]],
    names: Sequence[str],
    args: Mapping[str, Sequence[str]],
    count: int,
) -> str:
    if not names:
        return ""
    bends = [x for n in names for a in args[n] for x, _, _ in layout.paths[a, n]]
    left = min([layout.boxes[n][0] - sizes[n][0] / 2 for n in names] + bends) - 12
    right = max([layout.boxes[n][0] + sizes[n][0] / 2 for n in names] + bends) + 12
    top = min(layout.boxes[n][1] for n in names) - 12
    bottom = max(layout.boxes[n][1] + sizes[n][1] for n in names) + 12
    return (
        f'<rect x="{left:.1f}" y="{top:.1f}" width="{right - left:.1f}" height="{bottom - top:.1f}" rx="8" fill="currentColor" '
        f'fill-opacity="0.035" stroke="currentColor" stroke-opacity="0.5" stroke-dasharray="7 5"/>'
        f'<text x="{left + 8:.1f}" y="{top + 16:.1f}" font-size="13" font-weight="bold">{count} times</text>'
    )


def _legend(x: float, y: float, left_out: int) -> str:
    parts: list[str] = []
    for title, colour in (*((t, c) for t, c, _ in _FAMILIES), _OTHER):
        parts.append(
            f'<rect x="{x:.1f}" y="{y - 9:.1f}" width="10" height="10" fill="{colour}" fill-opacity="0.3" stroke="{colour}"/>'
        )
        parts.append(f'<text x="{x + 15:.1f}" y="{y:.1f}">{escape(title)}</text>')
        x += len(title) * _CHARACTER + 32
    if left_out:
        parts.append(f'<text x="34" y="{y - 18:.1f}">{left_out} further calls are left out</text>')
    return "".join(parts)
