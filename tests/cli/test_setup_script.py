"""scripts/setup that is interrupted: one line, whoever runs it, and nothing that a second call would trip over."""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
PYTHON = """#!/bin/sh
if [ "$1" = -m ] && [ "$2" = venv ]; then echo up > started; exec sleep 60; fi
exec {real} "$@"
"""


@pytest.fixture
def project(tmp_path: Path) -> Path:
    """A project whose environment takes a minute to make."""
    for name in ("pyproject.toml", "constraints.txt", "scripts/setup", "Makefile"):
        (tmp_path / name).parent.mkdir(exist_ok=True)
        shutil.copy(ROOT / name, tmp_path / name)
    tools = tmp_path / "tools"
    tools.mkdir()
    (tools / "python3").write_text(PYTHON.format(real=sys.executable))
    (tools / "python3").chmod(0o755)
    return tmp_path


@pytest.mark.skipif(any(shutil.which(p) is None for p in ("g++", "make", "perl")), reason="g++, make or perl is not installed")
@pytest.mark.parametrize("command", [["scripts/setup", "demo"], ["make", "demo"]])
def test_ctrl_c_ends_in_one_line(project: Path, command: list[str]) -> None:
    made = {"MAKEFLAGS", "MAKELEVEL", "MFLAGS"}  # of the make that runs these tests
    environment = {**{k: v for k, v in os.environ.items() if k not in made}, "PATH": f"{project / 'tools'}:{os.environ['PATH']}"}
    run = subprocess.Popen(
        command, cwd=project, env=environment, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, start_new_session=True
    )
    end = time.monotonic() + 60
    while not (project / "started").exists() and time.monotonic() < end and run.poll() is None:
        time.sleep(0.05)
    os.killpg(run.pid, signal.SIGINT)  # as a terminal does: everybody in the foreground gets it
    said = run.communicate(timeout=60)[0].splitlines()
    after = [line for line in said if line and not line.startswith(("setup: making", "setup: waves", "make: ***"))]
    assert after == ["setup: interrupted; the same command goes on"]
    assert run.returncode in (130, 2, -signal.SIGINT)  # make says 2, or ends by the signal itself
    assert not (project / ".venv" / ".fleet-setup-demo").exists()
