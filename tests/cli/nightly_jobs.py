"""Workspaces of `fleet init --ci`, also for the jobs that need a Slurm."""

from __future__ import annotations

import shlex
import sys
from pathlib import Path

from click.testing import CliRunner

from fleet.cli.sets import init

ROOT = Path(__file__).parents[2]
CASE = """
name = "tiny"
model = "../../models/example.py:forward"
golden = false
engines = ["vm", "cpython"]
[[runs]]
seeds = [0]
"""


def made(folder: Path, *kinds: str) -> Path:
    """A workspace with these jobs."""
    arguments = [str(folder), "--device", "hbm_small", *(word for kind in kinds for word in ("--ci", kind))]
    done = CliRunner().invoke(init.command, arguments, catch_exceptions=False, standalone_mode=False)
    assert done.return_value == 0, done.output
    return folder


def small(folder: Path, kind: str) -> Path:
    """A workspace with a case that needs no hardware, and the environment's own programs where the job finds them."""
    workspace = made(folder, kind)
    (workspace / "sim" / "test_conformance.py").unlink()
    (workspace / "sim" / "cases" / "example.toml").write_text(CASE)
    tools = workspace / ".venv" / "bin"
    tools.mkdir(parents=True)
    for name, module in (("pytest", "pytest -p no:cacheprovider"), ("fleet", "fleet.cli.main")):
        text = f'#!/bin/sh\nPYTHONPATH={shlex.quote(str(ROOT))} exec {shlex.quote(sys.executable)} -m {module} "$@"\n'
        (tools / name).write_text(text)
        (tools / name).chmod(0o755)
    return workspace
