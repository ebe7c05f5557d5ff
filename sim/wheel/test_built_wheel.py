"""A wheel, installed into an environment of its own without the repository: the template's set from nothing to a verdict.

Needs pip to reach packages; `--nightly`.
"""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

import fleet
from fleet.engines.rtl_sim.tools import find_toolchain

ROOT = Path(__file__).parents[2]


def run(*command: str, folder: Path, path: str) -> str:
    """Output of a command that must end with 0; nothing of this checkout is on its import path."""
    environment = {k: v for k, v in os.environ.items() if k not in {"PYTHONPATH", "VIRTUAL_ENV"}} | {"PATH": path}
    done = subprocess.run(command, cwd=folder, env=environment, capture_output=True, text=True, check=False, timeout=1800)
    assert done.returncode == 0, f"{command}\n{done.stdout[-2000:]}{done.stderr[-3000:]}"
    return done.stdout + done.stderr


@pytest.mark.nightly
def test_a_set_from_nothing_with_the_wheel_alone(tmp_path: Path) -> None:
    tools = find_toolchain().verilator.parent
    path = f"{tmp_path / 'venv' / 'bin'}:{tools}:{os.environ['PATH']}"
    source = tmp_path / "source"
    source.mkdir()
    archive = subprocess.run(["git", "archive", "HEAD"], cwd=ROOT, capture_output=True, check=True).stdout
    subprocess.run(["tar", "-xf", "-"], cwd=source, input=archive, check=True)
    run(sys.executable, "-m", "venv", "venv", folder=tmp_path, path=path)
    pip = ["python", "-m", "pip", "--quiet", "--disable-pip-version-check"]
    run(*pip, "wheel", "--no-deps", "-w", "dist", str(source), folder=tmp_path, path=path)
    (wheel,) = (tmp_path / "dist").glob("*.whl")
    run(*pip, "install", "-c", str(source / "constraints.txt"), str(wheel), folder=tmp_path, path=path)
    where = run("python", "-c", "import fleet; print(fleet.__file__)", folder=tmp_path, path=path)
    assert str(tmp_path / "venv") in where
    assert run("fleet", "--version", folder=tmp_path, path=path).split()[-1] == fleet.__version__
    run("fleet", "init", "work", folder=tmp_path, path=path)
    work = tmp_path / "work"
    run("fleet", "isa", "new", "tiny", folder=work, path=path)
    run(*pip, "install", "-e", "sets/tiny", folder=work, path=path)
    assert "PASS 0 findings" in run("fleet", "isa", "check", "tiny", folder=work, path=path)
    model = "sets/tiny/tiny/cases/model.py:forward"
    said = run("fleet", "cosim", model, "--engines", "vm,iss,rtl", "--device", "tiny_tiny", folder=work, path=path)
    assert "verdict: PASS" in said
    assert "passed" in run("python", "-m", "pytest", "sim/", "-q", folder=work, path=path)
