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


TOOLS = pytest.mark.skipif(
    any(shutil.which(p) is None for p in ("g++", "make", "perl")), reason="g++, make or perl is not installed"
)


def started(command: list[str], project: Path, environment: dict[str, str]) -> subprocess.Popen[str]:
    """The command, when it ended or makes the environment."""
    run = subprocess.Popen(
        command, cwd=project, env=environment, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, start_new_session=True
    )
    end = time.monotonic() + 60
    while not (project / "started").exists() and time.monotonic() < end and run.poll() is None:
        time.sleep(0.05)
    return run


def interrupted(run: subprocess.Popen[str]) -> list[str]:
    """The lines of a command that is ended as a terminal does it: everybody in the foreground gets it."""
    os.killpg(run.pid, signal.SIGINT)
    return run.communicate(timeout=60)[0].splitlines()


@TOOLS
@pytest.mark.parametrize("command", [["scripts/setup", "demo"], ["make", "demo"]])
def test_ctrl_c_ends_in_one_line(project: Path, command: list[str]) -> None:
    made = {"MAKEFLAGS", "MAKELEVEL", "MFLAGS"}  # of the make that runs these tests
    environment = {**{k: v for k, v in os.environ.items() if k not in made}, "PATH": f"{project / 'tools'}:{os.environ['PATH']}"}
    run = started(command, project, environment)
    said = interrupted(run)
    after = [line for line in said if line and not line.startswith(("setup: making", "setup: waves", "make: ***"))]
    assert after == ["setup: interrupted; the same command goes on"]
    assert run.returncode in (130, 2, -signal.SIGINT)  # make says 2, or ends by the signal itself
    assert not (project / ".venv" / ".fleet-setup-demo").exists()


@TOOLS
def test_a_verilator_that_has_left_the_path_is_missed(project: Path) -> None:
    """One that was on PATH is not installed; without it, nothing but this script could say what is missing."""
    folders = [Path(f) for f in os.environ["PATH"].split(os.pathsep) if Path(f).is_dir()]
    for program in (p for f in folders if (f / "verilator").exists() for p in f.iterdir()):
        link = project / "tools" / program.name
        if not program.name.startswith("verilator") and not link.exists():
            link.symlink_to(program)  # a folder of the distribution also has g++
    path = os.pathsep.join([str(project / "tools"), *(str(f) for f in folders if not (f / "verilator").exists())])
    stamp = "(cat pyproject.toml constraints.txt scripts/setup; uname -sm; pwd) | cksum"
    venv = project / ".venv"
    (venv / "bin").mkdir(parents=True)
    (venv / "bin/python").write_text("#!/bin/sh\nexit 1\n")
    (venv / "bin/python").chmod(0o755)
    (venv / ".fleet-setup-demo").write_text(subprocess.check_output(stamp, shell=True, cwd=project, text=True))
    (project / "tools/verilator").write_text("#!/bin/sh\n")
    (project / "tools/verilator").chmod(0o755)
    assert started(["scripts/setup", "demo"], project, {**os.environ, "PATH": path}).communicate(timeout=60)[0] == ""
    (project / "tools/verilator").unlink()
    run = started(["scripts/setup", "demo"], project, {**os.environ, "PATH": path})
    assert run.poll() is None, run.communicate()
    assert any(line.startswith("setup: making .venv") for line in interrupted(run))
