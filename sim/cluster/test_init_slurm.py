"""The job of `fleet init --ci slurm`, submitted to a Slurm as its first line says."""

from __future__ import annotations

import os
import shlex
import sys
import time
from pathlib import Path

import pytest
from click.testing import CliRunner
from two_nodes import missing, two_nodes

from fleet.cli.sets import init

REQUIRED = os.environ.get("FLEET_REQUIRE_SLURM") == "1"
pytestmark = [pytest.mark.nightly, pytest.mark.skipif(missing() is not None and not REQUIRED, reason=str(missing()))]
ROOT = Path(__file__).parents[2]
CASE = (
    'name = "tiny"\nmodel = "../../models/example.py:forward"\ngolden = false\nengines = ["vm", "cpython"]\n[[runs]]\nseeds = [0]\n'
)


def test_the_job_runs_in_the_night(tmp_path: Path) -> None:
    workspace = tmp_path / "work"
    arguments = [str(workspace), "--device", "hbm_small", "--ci", "slurm"]
    assert CliRunner().invoke(init.command, arguments, catch_exceptions=False, standalone_mode=False).return_value == 0
    (workspace / "sim" / "test_conformance.py").unlink()
    (workspace / "sim" / "cases" / "example.toml").write_text(CASE)
    tools = workspace / ".venv" / "bin"
    tools.mkdir(parents=True)
    for name, module in (("pytest", "pytest -p no:cacheprovider"), ("fleet", "fleet.cli.main")):
        text = f'#!/bin/sh\nPYTHONPATH={shlex.quote(str(ROOT))} exec {shlex.quote(sys.executable)} -m {module} "$@"\n'
        (tools / name).write_text(text)
        (tools / name).chmod(0o755)
    with two_nodes() as slurm:
        slurm.wait("idle", 2)
        slurm.call("sbatch", "--cpus-per-task=1", f"--chdir={workspace}", str(workspace / "nightly.sbatch"))
        end = time.monotonic() + 300
        while slurm.jobs():
            assert time.monotonic() < end, slurm.call("squeue")
            time.sleep(1)
    (log,) = (workspace / "reports").glob("nightly-*.log")
    assert "1 passed" in log.read_text()
    assert "✔ pass" in (workspace / "reports" / "sim" / "night" / "summary.md").read_text()
