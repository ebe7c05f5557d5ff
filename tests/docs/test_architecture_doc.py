"""docs/architecture.md: the table of rooms, the walks and the parts of our own name what is there."""

from __future__ import annotations

import re
from itertools import groupby
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
TEXT = (ROOT / "docs" / "architecture.md").read_text(encoding="utf-8")
WALKS = re.findall(r"^\*\*(.+)\*\*\n\n\| file \| name \| what happens \|\n\|[-|]+\|\n((?:\|.*\n)+)", TEXT, re.MULTILINE)


def rows(table: str) -> list[tuple[str, str]]:
    return [(cells[1].strip(" `"), cells[2].strip(" `")) for cells in (line.split("|") for line in table.splitlines())]


def room(file: str) -> str:
    parts = file.split("/")
    return "/".join(parts[:2]) if parts[0] == "fleet" else parts[0]


def test_there_are_three_walks() -> None:
    assert [name for name, _ in WALKS] == [
        "A weight, from `.npz` to an HBM port",
        "A source line, to RISC-V",
        "An instruction, from RDL to a divergence report",
    ]


@pytest.mark.parametrize(("name", "table"), WALKS, ids=[name for name, _ in WALKS])
def test_a_walk_names_what_is_there_and_enters_a_room_once(name: str, table: str) -> None:
    steps = rows(table)
    assert len(steps) > 9
    for file, symbol in steps:
        text = (ROOT / file).read_text(encoding="utf-8")
        assert re.search(rf"\b{re.escape(symbol)}\b", text), f"{name}: {file} has no {symbol}"
    entered = [r for r, _ in groupby(room(file) for file, _ in steps)]
    assert len(entered) == len(set(entered)), entered


def test_every_file_that_the_page_names_is_there() -> None:
    named = re.findall(r"`((?:fleet|rtl_models|tests|sim|docs)/[\w./-]+)`", TEXT)
    assert len(named) > 60
    assert [n for n in named if not (ROOT / n).exists()] == []


def test_every_room_of_the_package_is_in_the_table() -> None:
    there = {f"fleet/{p.parent.name}" for p in (ROOT / "fleet").glob("*/__init__.py")}
    rooms = TEXT[TEXT.index("## Rooms") : TEXT.index("## Three walks")]
    listed = re.findall(r"^\| `(fleet/\w+)` \|", rooms, re.MULTILINE)
    assert sorted(listed) == sorted(there)
