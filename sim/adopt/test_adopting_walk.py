"""docs/adopting.md with the commands that build a bench."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

pytest.importorskip("pyslang")

sys.path.insert(0, str(Path(__file__).parents[2] / "tests" / "docs"))

from page_commands import ROOT, Walk

pytestmark = pytest.mark.nightly


def test_the_ladder_of_the_page_runs_and_prints_what_the_page_shows(tmp_path: Path) -> None:
    walk = Walk(tmp_path, tmp_path / "bin")
    walk.page((ROOT / "docs" / "adopting.md").read_text())
    assert walk.ran == 21
