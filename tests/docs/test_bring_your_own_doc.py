"""docs/bring-your-own.md and docs/systolic-array.md: every command is run, in order, and prints what the pages show."""

from __future__ import annotations

from pathlib import Path

from page_commands import ROOT, Walk, blocks, commands

ADOPTING = (ROOT / "docs" / "adopting.md").read_text()  # is walked by a test of its own
PAGES = [(ROOT / "docs" / name).read_text() for name in ("bring-your-own.md", "systolic-array.md")]


def test_every_command_runs_and_prints_what_the_pages_show(tmp_path: Path) -> None:
    walk = Walk(tmp_path, tmp_path / "bin")
    for text in PAGES:
        walk.page(text)
    assert walk.ran == sum(len(commands(block)) for text in PAGES for kind, _, block in blocks(text) if kind == "sh") >= 25


def test_every_command_of_the_group_is_on_the_pages() -> None:
    from fleet.cli.sets.isa import command

    assert {n for n in command.commands if not any(f"fleet isa {n}" in text for text in (*PAGES, ADOPTING))} == set()
