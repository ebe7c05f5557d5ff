"""What every command leaves with, whatever ends it: one table."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest
from command_line import ROOT, Fleet

from fleet.cli.main import _COMMANDS as COMMANDS
from fleet.cli.main import main
from fleet.cli.opt import main as fleet_opt
from fleet.errors import ExitCode

HIDING = """
import os, signal
from fleet.cli.looking import doctor_command
def command(*_, **__):
    try:
        os.kill(os.getpid(), signal.{name})
    except BaseException:
        {then}
doctor_command.command.callback = command
"""


def test_a_signal_that_code_hides(fleet: Fleet) -> None:
    """Code that catches everything."""
    assert fleet("doctor", prelude=HIDING.format(name="SIGTERM", then="return 0")).code == 143
    ran = fleet("doctor", prelude=HIDING.format(name="SIGHUP", then="return 1"))
    assert ran.code == 129


@pytest.mark.parametrize("command", COMMANDS)
def test_bad_usage_of_every_command(capsys: pytest.CaptureFixture[str], command: str) -> None:
    code = main([command, "--no-such-option"])
    error = capsys.readouterr().err
    assert (code, len(error.splitlines())) == (ExitCode.BAD_INPUT, 1), error


BAD = (
    ("cosim", "gone.py:f"),
    ("generate", "--model", "gone", "--prompt", "x"),
    ("compile", "--emit", "ir", "gone.py:f"),
    ("isa", "check", "gone"),
    ("isa", "diff", "gone", "gone"),
    ("bisect-pass", "gone.py:f"),
    ("run", "gone.py:f"),
    ("case", "run", "gone"),
    ("stream", "run", "gone"),
    ("host", "run", "--device", "hbm_small", "./gone"),
    ("host", "build", "gone.cpp", "-o", "x"),
    ("models", "fetch", "gone"),
    ("quantise", "gone.py:f", "--device", "hbm_small"),
    ("why", "gone"),
    ("shrink", "gone"),
    ("golden", "check", "gone"),
    ("report", "gone"),
    ("diff", "gone", "gone"),
)


@pytest.mark.parametrize("arguments", BAD, ids=" ".join)
def test_bad_input_of_every_command(
    capsys: pytest.CaptureFixture[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch, arguments: tuple[str, ...]
) -> None:
    monkeypatch.chdir(tmp_path)
    code = main(list(arguments))
    error = capsys.readouterr().err
    assert (code, len(error.splitlines())) == (ExitCode.BAD_INPUT, 1), error


def test_fleet_opt(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    assert fleet_opt([str(tmp_path / "gone.mlir")]) == ExitCode.BAD_INPUT
    assert len(capsys.readouterr().err.splitlines()) == 1


def test_the_table_is_one(capsys: pytest.CaptureFixture[str]) -> None:
    """In the code, in the help, in the documentation."""
    main(["--help"])
    shown, written = capsys.readouterr().out, (ROOT / "docs" / "running.md").read_text()
    for code in ExitCode:
        assert re.search(rf"^ +{code:d} {re.escape(code.meaning)}$", shown, re.M), code
        assert f"| {code:d} | {code.meaning.replace('|', chr(92) + '|')} |" in written, code
    readme = (ROOT / "README.md").read_text().partition("Exit codes:")[2].partition("\n\n")[0]
    assert {int(n) for n in re.findall(r"\b(\d{1,3})\b", readme)} == set(ExitCode)


def test_the_package_is_the_command() -> None:
    """`python -m fleet`, where no script is on the path."""
    by = [sys.executable, "-m", "fleet"]
    assert subprocess.run([*by, "--version"], cwd=ROOT, capture_output=True, check=True).stdout.startswith(b"fleet, version ")
    assert subprocess.run([*by, "no-such-command"], cwd=ROOT, capture_output=True, check=False).returncode == 2
