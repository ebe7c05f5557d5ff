"""The job of `fleet init --ci slurm`, submitted to a Slurm as its first line says."""

from __future__ import annotations

import os
import sys
import time
from pathlib import Path

import pytest
from two_nodes import missing, two_nodes

sys.path.insert(0, str(Path(__file__).parents[2] / "tests" / "cli"))

from nightly_jobs import small

REQUIRED = os.environ.get("FLEET_REQUIRE_SLURM") == "1"
pytestmark = [pytest.mark.nightly, pytest.mark.skipif(missing() is not None and not REQUIRED, reason=str(missing()))]


def test_the_job_runs_in_the_night(tmp_path: Path) -> None:
    workspace = small(tmp_path / "work", "slurm")
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
