"""docs/adopting.md: every command is run, in order, and prints what the page shows; its table has every protocol."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from page_commands import ROOT, Walk

pytest.importorskip("pyslang")

from fleet.adopt.protocols import PROTOCOLS

PAGE = (ROOT / "docs" / "adopting.md").read_text()


def test_every_command_runs_and_prints_what_the_page_shows(tmp_path: Path) -> None:
    walk = Walk(tmp_path, tmp_path / "bin", nightly=False)  # sim/adopt builds the bench
    walk.page(PAGE)
    assert walk.ran == 10


def test_every_protocol_is_on_the_page() -> None:
    rows = [line.split("|")[1] for line in PAGE.splitlines() if line.startswith("| `")]
    assert {name for row in rows for name in re.findall(r"`(\w+)`", row)} == set(PROTOCOLS)
