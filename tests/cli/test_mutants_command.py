"""Bad input of `fleet isa mutants` is told in a line, before hours have been spent."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from fleet.cli.main import main
from fleet.verify.mutation import campaign


@pytest.fixture
def refused(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> Callable[..., str]:  # fmt: skip
    """Runs the command, which has to be refused before a target is opened; its one line."""
    monkeypatch.chdir(tmp_path)

    def opened(*_: object) -> None:
        raise AssertionError("work has begun")

    monkeypatch.setattr(campaign, "open_target", opened)

    def called(*arguments: str) -> str:
        assert main(["isa", "mutants", *arguments]) == 2
        (line,) = capsys.readouterr().err.splitlines()
        return line

    return called


def test_what_is_not_there_is_refused(refused: Callable[..., str]) -> None:
    assert "no instruction set and no device is called 'nosuch'" in refused("nosuch")
    assert "'sums' is not a place" in refused("vgemm_small", "--over", "rtl,sums")
    assert "--count" in refused("vgemm_small", "--count", "0")


@pytest.mark.parametrize("option", ["--report", "--dir"])
def test_a_folder_that_cannot_be_written_is_told_first(option: str, refused: Callable[..., str], tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    assert "cannot be written" in refused("vgemm_small", option, str(tmp_path / "file" / "below"))


def test_a_damaged_report_is_told_first(refused: Callable[..., str], tmp_path: Path) -> None:
    (tmp_path / "mutants.json").write_text("{")
    assert "mutants.json:1: no report of mutants" in refused("vgemm_small", "--report", str(tmp_path))


@pytest.mark.parametrize("text", ["x = [", "x = 1", "survivor = 3"])
def test_a_damaged_list_of_survivors_is_told(text: str, refused: Callable[..., str], tmp_path: Path) -> None:
    (tmp_path / "s.toml").write_text(text)
    assert "s.toml" in refused("vgemm_small", "--survivors", str(tmp_path / "s.toml"))
