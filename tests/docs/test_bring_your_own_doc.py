"""docs/bring-your-own.md and, nightly, docs/systolic-array.md: every command is run, in order, and prints what the page shows."""

from __future__ import annotations

from pathlib import Path

import pytest
from page_commands import ROOT, Walk, blocks, commands

ADOPTING = (ROOT / "docs" / "adopting.md").read_text()  # is walked by a test of its own
PAGES = [(ROOT / "docs" / name).read_text() for name in ("bring-your-own.md", "systolic-array.md")]


@pytest.mark.parametrize(("at", "least"), [(0, 35), pytest.param(1, 20, marks=pytest.mark.nightly)], ids=["own", "systolic"])
def test_every_command_runs_and_prints_what_the_page_shows(at: int, least: int, tmp_path: Path) -> None:
    walk = Walk(tmp_path, tmp_path / "bin")
    if at:  # it goes on in the first page's workspace
        walk.page(PAGES[0][: PAGES[0].index("## A set that works at once")])
    before = walk.ran
    walk.page(PAGES[at])
    assert walk.ran - before == sum(len(commands(block)) for kind, _, block in blocks(PAGES[at]) if kind == "sh") >= least


def test_every_command_of_the_group_is_on_the_pages() -> None:
    from fleet.cli.sets.isa import command

    assert {n for n in command.commands if not any(f"fleet isa {n}" in text for text in (*PAGES, ADOPTING))} == set()
