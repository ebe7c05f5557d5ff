"""A table of a regression page, and the same as Markdown for a folder's README."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from markupsafe import Markup


@dataclass(frozen=True)
class PageTable:
    """A table. numbers: columns aligned to the right. code: columns of program text. commands: columns of commands."""

    title: str
    text: str
    head: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]
    numbers: frozenset[int] = frozenset()
    code: frozenset[int] = frozenset()
    commands: frozenset[int] = frozenset()


@dataclass(frozen=True)
class TablesPage:
    """A page of tables. title: of the banner, which is red if `bad`. topic: the documentation's page that explains it."""

    heading: str
    title: str
    topic: str
    bad: bool
    tables: Sequence[PageTable]
    pictures: Sequence[Markup] = ()


def markdown(title: str, tables: Sequence[PageTable]) -> str:
    """Return a page of tables as Markdown."""
    lines = [f"# {title}", ""]
    for t in tables:
        lines += [f"## {t.title}", "", *([t.text, ""] if t.text else [])]
        lines += ["| " + " | ".join(t.head) + " |", "|" + "---|" * len(t.head)]
        for row in t.rows:
            cells = [c.replace("|", "\\|") for c in row]
            lines.append("| " + " | ".join(f"`{c}`" if i in t.code else c for i, c in enumerate(cells)) + " |")
        lines.append("")
    return "\n".join(lines)
