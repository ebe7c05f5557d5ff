"""`fleet isa coverage`: exit codes and what it prints; what it runs is in tests/verify and sim/coverage."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from fleet.cli.main import main
from fleet.isa.registry import find_device
from fleet.verify.coverage import run as runs
from fleet.verify.coverage.account import CoverageAccount
from fleet.verify.coverage.bins import space_of
from fleet.verify.coverage.rtl import ModuleCoverage, RtlCoverage


def made(**figures: object) -> CoverageAccount:
    account = runs.new_account(space_of(*find_device("vgemm_small")))
    account.add(["load:executed:yes"], "vgemm_small/load/random/0", "ideal/regs")
    account.programs, account.instructions, account.seeds = 1, 8, [0]
    for name, value in figures.items():
        setattr(account, name, value)
    return account


@pytest.fixture
def call(capsys: pytest.CaptureFixture[str]) -> Callable[..., tuple[int, str]]:
    def called(*arguments: str, device: str = "vgemm_small") -> tuple[int, str]:
        code = main(["isa", "coverage", device, *arguments])
        found = capsys.readouterr()
        assert "Traceback" not in found.err
        return code, found.out

    return called


Call = Callable[..., tuple[int, str]]


def test_what_ran_is_stored_and_shown(call: Call, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(runs, "run_coverage", lambda *_: made())
    code, text = call("--budget", "1m", "--report", str(tmp_path))
    assert code == 0
    assert "PASS 1 programs, 8 instructions" in text
    assert (tmp_path / "index.html").is_file()
    code, text = call("--budget", "0", "--merge", str(tmp_path / "account.json"), "--report", str(tmp_path / "again"))
    assert code == 0
    assert "largest holes of" in text


def test_the_hardware_that_an_earlier_run_counted_is_shown_with_its_account(call: Call, tmp_path: Path) -> None:
    account = made()
    account.save(tmp_path / "account.json")
    module = ModuleCoverage("top", lines=(3, 4), branches=(1, 1), toggles=(0, 2), assertions=(1, 1))
    merge = ("--budget", "0", "--merge", str(tmp_path / "account.json"), "--report", str(tmp_path / "again"))
    for description, shown in ((account.description_hash, True), ("0" * 64, False)):
        RtlCoverage("vgemm_small", description, 1, [module]).save(tmp_path / "rtl.json")
        code, text = call(*merge)
        assert code == 0
        assert ("hardware: lines  75.0 %, branches 100.0 %, toggles   0.0 %" in text) == shown
    (tmp_path / "rtl.json").write_text("[]")
    assert call(*merge)[0] == 2


def test_a_comparison_that_failed_is_exit_code_1(call: Call, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(runs, "run_coverage", lambda *_: made(failures=["vgemm_small/load/random/0 ideal/regs: differs"]))
    code, text = call("--budget", "1m", "--report", str(tmp_path))
    assert code == 1
    assert "FAIL" in text
    assert "ideal/regs: differs" in text


def test_nothing_run_is_no_success(call: Call, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(runs, "run_coverage", lambda *_: made(programs=0))
    assert call("--budget", "1m", "--report", str(tmp_path))[0] == 1


@pytest.mark.parametrize("minutes", ["0", "nan", "inf", "-1", "x"])
def test_minutes_that_are_none_are_refused(minutes: str, call: Call, tmp_path: Path) -> None:
    assert call("--budget", minutes, "--report", str(tmp_path))[0] == 2


def test_a_report_that_cannot_be_written_is_told_before_anything_runs(
    call: Call, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    ran: list[object] = []
    monkeypatch.setattr(runs, "run_coverage", lambda *a: ran.append(a))
    (tmp_path / "file").touch()
    assert call("--budget", "1m", "--report", str(tmp_path / "file" / "below"))[0] == 2
    assert ran == []


def test_bad_input_is_one_line_and_exit_code_2(call: Call, tmp_path: Path) -> None:
    (tmp_path / "a.json").write_text("nothing")
    assert call("--budget", "0", "--merge", str(tmp_path / "a.json"), "--report", str(tmp_path))[0] == 2
    made(description_hash="0" * 64).save(tmp_path / "a.json")
    assert call("--budget", "0", "--merge", str(tmp_path / "a.json"), "--report", str(tmp_path))[0] == 2
    assert call("--report", str(tmp_path), device="no_such_device")[0] == 2
