"""The page of one divergence: the account of `fleet why`, the commits around it, the chain of its inputs as a picture."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from markupsafe import Markup, escape

from fleet.compare.account import CommitSpan, DivergenceAccount, OperandLink
from fleet.compare.diverged import Divergence
from fleet.core.files import write_atomically
from fleet.errors import ModelError
from fleet.report.frame.index import published
from fleet.report.frame.place import About, frame_of
from fleet.report.frame.render import render
from fleet.report.run.why import StoredFailure, sections

_WIDTH, _ROW, _NAME = 940, 26, 190
_RIGHT, _HERE, _NOT = "#009E73", "#D55E00", "#999999"
_COLUMN, _BOX, _GAP, _MOST, _LETTERS = 240, 38, 10, 9, 31


@dataclass(frozen=True)
class _DivergencePage:
    """The values of the page. rows: heading and lines of the account. around: text below the timeline. chain: of the inputs."""

    title: str
    what: str
    command: str
    links: tuple[OperandLink, ...]
    head: str
    rows: Sequence[tuple[str, Sequence[str]]]
    around: str
    timeline: Markup
    chain: Markup


def write_divergence(failure: StoredFailure, path: Path) -> Path:
    """Write the page of a stored failure. Raises ModelError if it names no commit; FleetError if the page cannot be written."""
    d = failure.divergence
    if d is None or d.seq is None:
        raise ModelError("names no instruction: there is no divergence to show", where=str(failure.path))
    account = d.account or DivergenceAccount()
    shown = _DivergencePage(
        title=failure.title,
        what=d.what,
        command=failure.command,
        links=account.chain,
        head=f"instruction {d.seq}: {d.instruction}" + (f" of {d.ops[-1]}" if d.ops else ""),
        rows=[(name, lines) for name, lines in sections(failure) if name != "chain"],
        around=_around(account),
        timeline=_timeline(account.near, d.seq),
        chain=_chain(d, account.chain),
    )
    about = About("divergence", failure.title, "fail", d.what[:80], failure.when)
    page = render("divergence.html.j2", shown, frame_of(path, about))
    write_atomically(path, page.encode())
    published(path)
    return path


def _around(account: DivergenceAccount) -> str:
    known = [c for c in account.near if c.start is not None]
    if not known:
        return "No clock is known of them."
    behind = len(account.near) - len(known)
    text = f"Cycles of the run, {known[0].start:,} to {known[-1].end:,}. Green agrees, orange differs"
    return text + (f"; the run ended there, and the {behind} below it had not committed." if account.cut and behind else ".")


def _timeline(near: Sequence[CommitSpan], seq: int) -> Markup:
    """Draw one row per commit, with a bar on the run's cycles."""
    known = [c for c in near if c.start is not None and c.end is not None]
    if not near:
        return Markup("<p>Nothing is stored of them.</p>")
    low = min((c.start or 0 for c in known), default=0)
    high = max((c.end or 0 for c in known), default=1)
    scale = (_WIDTH - _NAME - 90) / max(1, high - low)
    parts = [f'<svg viewBox="0 0 {_WIDTH} {_ROW * len(near) + 4}" width="{_WIDTH}" role="img" aria-label="commits by cycle">']
    for i, c in enumerate(near):
        y = i * _ROW
        weight = ' font-weight="bold"' if c.seq == seq else ""
        name = f"{c.seq} {c.instruction}" + (f" {c.ops[-1]}" if c.ops else "")
        parts.append(f'<text x="0" y="{y + 17}" font-size="12" fill="currentColor"{weight}>{escape(name[:30])}</text>')
        if c.start is None or c.end is None:
            parts.append(f'<text x="{_NAME}" y="{y + 17}" font-size="12" fill="{_NOT}">no commit</text>')
            continue
        x, width = _NAME + (c.start - low) * scale, max(2.0, (c.end - c.start) * scale)
        colour = _RIGHT if c.equal else _HERE
        parts.append(f'<rect x="{x:.1f}" y="{y + 4}" width="{width:.1f}" height="18" fill="{colour}"/>')
        side = x + width + 5
        parts.append(f'<text x="{side:.1f}" y="{y + 17}" font-size="11" fill="currentColor">{c.end - c.start:,} cycles</text>')
    return Markup("".join([*parts, "</svg>"]))


def _chain(d: Divergence, links: Sequence[OperandLink]) -> Markup:
    """Draw columns by depth, the divergent instruction at the right, with a line from each operand to its reader."""
    if not links:
        return Markup("<p>It reads nothing that is known.</p>")
    deepest = min(3, max(k.depth for k in links))
    columns: list[list[OperandLink]] = [[] for _ in range(deepest + 1)]
    nodes: set[tuple[object, ...]] = set()
    more = 0
    for k in links:
        key = (k.writer,) if k.writer is not None else (k.words, k.place)
        if k.depth > deepest or key in nodes:
            continue
        if len(columns[k.depth]) == _MOST:
            more += 1
            continue
        nodes.add(key)
        columns[k.depth].append(k)
    height = max(len(c) for c in columns) * (_BOX + _GAP) + 24
    width = (deepest + 2) * _COLUMN
    at: dict[int, tuple[float, float]] = {}
    boxes: list[str] = []
    lines: list[str] = []

    def box(x: float, y: float, first: str, second: str, colour: str) -> None:
        second = second if len(second) <= _LETTERS else second[: _LETTERS - 3] + "..."
        boxes.append(
            f'<rect x="{x:.0f}" y="{y:.0f}" width="{_COLUMN - 50}" height="{_BOX}" rx="3" fill="none" stroke="{colour}" '
            f'stroke-width="1.5"/><text x="{x + 6:.0f}" y="{y + 15:.0f}" font-size="11" font-weight="bold" fill="currentColor">'
            f"{escape(first[:30])}</text>"
            f'<text x="{x + 6:.0f}" y="{y + 30:.0f}" font-size="10" fill="currentColor">{escape(second)}</text>'
        )

    x, y = width - _COLUMN + 40, height / 2 - _BOX / 2
    assert d.seq is not None
    at[d.seq] = (x, y + _BOX / 2)
    box(x, y, f"{d.seq} {d.instruction}", d.ops[-1] if d.ops else "differs", _HERE)
    for depth, column in enumerate(columns):
        left = width - _COLUMN * (depth + 2) + 40
        top = (height - len(column) * (_BOX + _GAP)) / 2
        for i, k in enumerate(column):
            y = top + i * (_BOX + _GAP)
            first = k.words if k.writer is None else f"{k.writer} {k.words}"
            box(left, y, first, f"{k.field + ': ' if k.field else ''}{k.place}", _NOT if k.writer is None else _RIGHT)
            if k.writer is not None:
                at.setdefault(k.writer, (left, y + _BOX / 2))
            if k.reader in at:
                to = at[k.reader]
                start = left + _COLUMN - 50
                lines.append(
                    f'<path d="M{start:.0f},{y + _BOX / 2:.0f} C{start + 25:.0f},{y + _BOX / 2:.0f} {to[0] - 25:.0f},{to[1]:.0f} '
                    f'{to[0]:.0f},{to[1]:.0f}" fill="none" stroke="currentColor" stroke-opacity=".45"/>'
                )
    note = (
        f'<text x="0" y="{height - 4:.0f}" font-size="11" fill="currentColor">{more} more are in the table</text>' if more else ""
    )
    head = f'<svg viewBox="0 0 {width} {height:.0f}" width="{width}" role="img" aria-label="chain of inputs">'
    return Markup("".join([head, *lines, *boxes, note, "</svg>"]))
