"""docs/tutorial: every command is run, in order, and prints what the pages show. What builds hardware waits for `--nightly`.

So do the commands of docs/accuracy.md, which goes on in the same workspace.
"""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from page_commands import ROOT, Walk, blocks

TUTORIAL = ROOT / "docs" / "tutorial"
WORKSPACE = [(TUTORIAL / name).read_text() for name in ("your-model.md", "read-the-report.md", "every-night.md")]
ACCURACY = (ROOT / "docs" / "accuracy.md").read_text()


def _first_run(folder: Path, *, nightly: bool) -> None:
    (folder / "examples").symlink_to(ROOT / "examples")
    Walk(folder, folder / "bin", nightly).page((TUTORIAL / "first-run.md").read_text())


def _workspace(folder: Path, *, nightly: bool) -> None:
    walk = Walk(folder, folder / "bin", nightly)
    for text in [*WORKSPACE, ACCURACY] if nightly else WORKSPACE:
        walk.page(text)
    assert walk.ran >= 15


def test_the_first_run(tmp_path: Path) -> None:
    _first_run(tmp_path, nightly=False)


def test_a_model_its_report_and_its_nights(tmp_path: Path) -> None:
    _workspace(tmp_path, nightly=False)


@pytest.mark.nightly
def test_the_first_run_with_hardware(tmp_path: Path) -> None:
    _first_run(tmp_path, nightly=True)


@pytest.mark.nightly
def test_a_model_its_report_and_its_nights_with_hardware(tmp_path: Path) -> None:
    _workspace(tmp_path, nightly=True)


def test_the_pages_are_those_of_the_tutorial() -> None:
    """Five, in the order in which the tests walk them; docs/bring-your-own.md has a test of its own."""
    listed = re.findall(r"^- \[[^\]]*\]\(([\w/.-]+)\)", (ROOT / "docs" / "tutorial.md").read_text(), re.M)
    walked = ["first-run.md", "your-model.md", "read-the-report.md", "every-night.md"]
    assert [Path(p).name for p in listed if p.startswith("tutorial/")] == walked
    assert len(listed) == 5
    assert sorted(p.name for p in TUTORIAL.glob("*.md")) == sorted(walked)


def test_a_line_that_is_not_printed_is_found(tmp_path: Path) -> None:
    page = "```sh\necho one\n```\n\n```text\n{}\n```\n"
    Walk(tmp_path, tmp_path / "bin").page(page.format("one"))
    with pytest.raises(AssertionError, match="two"):
        Walk(tmp_path, tmp_path / "other").page(page.format("two"))
    assert blocks("```python\nx\n```\n```python a.py\ny\n```\n") == [("python", "a.py", "y\n")]
