"""A good old report is never replaced by a half-written one."""

from __future__ import annotations

import os
from dataclasses import replace
from pathlib import Path

import pytest
import synthetic_results as synthetic

from fleet.core import files
from fleet.core.files import write_together
from fleet.cosim.result import CosimResult
from fleet.errors import FleetError
from fleet.report.run import page as page_module
from fleet.report.run.page import write_report


def contents(folder: Path) -> dict[str, str]:
    return {p.name: p.read_text() for p in folder.iterdir()}


def other() -> CosimResult:
    return replace(synthetic.empty(), reasons=("another reason",))


def test_interrupted_rendering_leaves_the_old_report(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    write_report(synthetic.empty(), tmp_path)
    old = contents(tmp_path)

    def interrupt(*_: object) -> str:
        raise KeyboardInterrupt

    monkeypatch.setattr(page_module, "junit", interrupt)
    with pytest.raises(KeyboardInterrupt):
        write_report(other(), tmp_path)
    assert contents(tmp_path) == old


@pytest.mark.parametrize("after", [0, 1, 3])
def test_full_disk_leaves_the_old_report(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, after: int) -> None:
    write_report(synthetic.empty(), tmp_path)
    old = contents(tmp_path)
    calls = 0

    def full(_: int) -> None:
        nonlocal calls
        calls += 1
        if calls > after:
            raise OSError(28, os.strerror(28))

    monkeypatch.setattr(files.os, "fsync", full)
    with pytest.raises(FleetError, match="No space left on device"):
        write_report(other(), tmp_path)
    assert contents(tmp_path) == old


def test_interrupted_write_leaves_no_temporary_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def interrupt(_: int) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(files.os, "fsync", interrupt)
    with pytest.raises(KeyboardInterrupt):
        write_together({tmp_path / "a.txt": "a"})
    assert contents(tmp_path) == {}


def test_a_file_in_the_way_is_one_line(tmp_path: Path) -> None:
    (tmp_path / "out").write_text("a file, not a folder")
    with pytest.raises(FleetError) as caught:
        write_report(synthetic.empty(), tmp_path / "out")
    assert "\n" not in str(caught.value)


def test_blanks_in_the_path(tmp_path: Path) -> None:
    files = write_report(synthetic.empty(), tmp_path / "a b" / "ü")
    assert files.html.exists()
