"""`python tests/seeds/seed_listing.py [--check]`: the tables of docs/seeds.md, out of the rows that `test_seeds_table` runs."""

from __future__ import annotations

import sys
from collections import Counter
from collections.abc import Iterator, Mapping
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1]))  # for `warm`, where this runs as a script

from seed_000 import BYTECODE, VM
from seed_002 import COMMAND_LINE, COMPILER
from seed_003 import CHAPTERS, EXERCISES
from seed_004 import DLAVM, HARDWARE
from seed_rows import ROOT, Group, Row

from fleet.ir.tables import write_page

PAGE = ROOT / "docs" / "seeds.md"
GROUPS: tuple[Group, ...] = (VM, BYTECODE, COMMAND_LINE, COMPILER, CHAPTERS, EXERCISES, DLAVM, HARDWARE)


def counts() -> str:
    """A Markdown table: how many rows of each group work, differ, are missing."""
    lines = ["| | works | differs | missing |", "|---|--:|--:|--:|"]
    total: Counter[str] = Counter()
    for group in GROUPS:
        found = Counter(row.state for row in group.rows)
        total += found
        lines.append(f"| {group.title} | {found['works']} | {found['differs']} | {found['missing']} |")
    return "\n".join(
        [*lines, f"| **all {total.total()}** | **{total['works']}** | **{total['differs']}** | **{total['missing']}** |"]
    )


def tables() -> Mapping[str, str]:
    """What stands between the page's marks."""
    return {"counts": counts(), "rows": "\n\n".join("\n".join(_table(group)) for group in GROUPS)}


def _table(group: Group) -> Iterator[str]:
    yield f"## {group.title}\n"
    for name, text in group.files.items():
        yield f"`{name}`:\n\n```python\n{text.strip()}\n```\n"
    if group.prelude:
        yield f"Before each row in Python:\n\n```python\n{group.prelude.strip()}\n```\n"
    yield "| feature | command | state |"
    yield "|---|---|---|"
    for row in group.rows:
        yield "| " + " | ".join(cell.replace("|", "\\|") for cell in (row.feature, _command(row), _state(row))) + " |"


def _command(row: Row) -> str:
    return "<br>".join(f"`{line.strip()}`" for line in row.command.strip().splitlines())


def _state(row: Row) -> str:
    return (f"**{row.state}**: {row.why}" if row.why else row.state) + (" (nightly)" if row.nightly else "")


if __name__ == "__main__":
    sys.exit(write_page(PAGE, tables(), "--check" in sys.argv[1:]))
