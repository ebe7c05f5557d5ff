"""docs/adopting.md with the commands that build a bench."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

pytest.importorskip("pyslang")

sys.path.insert(0, str(Path(__file__).parents[2] / "tests" / "docs"))

from page_commands import ROOT, Walk
from simulators_here import HAS_ICARUS

pytestmark = pytest.mark.nightly


def test_the_ladder_of_the_page_runs_and_prints_what_the_page_shows(tmp_path: Path) -> None:
    walk = Walk(tmp_path, tmp_path / "bin")
    page = (ROOT / "docs" / "adopting.md").read_text()
    if not HAS_ICARUS:
        before, rest = page.split("## A second simulator\n")
        page = before + "## When it fails\n" + rest.split("## When it fails\n")[1]
    walk.page(page)
    assert walk.ran == 22 + HAS_ICARUS
