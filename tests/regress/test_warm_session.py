"""A session of `pytest sim` in a project of the user's: one simulation serves its runs, and none outlives it."""

from __future__ import annotations

import os
import re
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from test_pytest_plugin import ROOT, command, preexec, run

from fleet.cosim.result import CosimResult
from fleet.engines.rtl_sim.modes.recipe import UNCHECKED

MODEL = """
import numpy as np

def forward(x: "float32[N, 16]", w: "float32[16, 16]"):
    return np.maximum(x @ w, 0)
"""
CASE = """
name = "mine"
model = "../../model.py:forward"
weights = "../../w.npz"
input = "../../x.npz"
golden = false
engines = ["iss", "rtl"]
devices = ["vgemm_small"]
memories = ["ideal", "fixed", "stall"]
issues = ["regs", "aux"]
"""
TELLS = """
def pytest_terminal_summary(terminalreporter):
    from fleet.engines.legs.warm import times_reused
    terminalreporter.write_line(f"simulations taken again: {times_reused()}")
"""


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    rng = np.random.default_rng(0)
    (tmp_path / "model.py").write_text(MODEL)
    np.savez(tmp_path / "w.npz", w=rng.normal(size=(16, 16)).astype(np.float32))
    np.savez(tmp_path / "x.npz", x=rng.normal(size=(5, 16)).astype(np.float32))
    (tmp_path / "sim" / "cases").mkdir(parents=True)
    (tmp_path / "sim" / "cases" / "mine.toml").write_text(CASE)
    (tmp_path / "pytest.ini").write_text("[pytest]\n")
    (tmp_path / "conftest.py").write_text(TELLS)
    (tmp_path / "tmp").mkdir()
    monkeypatch.setenv("TMPDIR", str(tmp_path / "tmp"))
    return tmp_path


def simulations(project: Path) -> list[int]:
    """Process ids of simulations whose folders are the project's."""
    found: list[int] = []
    for folder in Path("/proc").glob("[0-9]*"):
        try:
            words = (folder / "cmdline").read_bytes().split(b"\0")
        except OSError:
            continue
        if b"--jobs" in words and words[words.index(b"--jobs") + 1].startswith(os.fsencode(project)):
            found.append(int(folder.name))
    return found


def _until(holds: Callable[[], bool], seconds: float = 120) -> None:
    end = time.monotonic() + seconds
    while not holds():
        assert time.monotonic() < end, "it did not come true"
        time.sleep(0.02)


def test_one_simulation_serves_the_runs_of_a_project(project: Path) -> None:
    done = run(project, "sim", "-q")
    assert done.returncode == 0, done.stdout + done.stderr
    assert "6 passed" in done.stdout
    assert "simulations taken again: 5" in done.stdout
    assert simulations(project) == []
    assert not list((project / "tmp").glob("fleet-*"))


def test_legs_of_the_runs_too(project: Path) -> None:
    done = run(project, "sim", "-q", "--rtl-jobs", "2", "-k", "ideal")
    assert done.returncode == 0, done.stdout + done.stderr
    assert "2 passed" in done.stdout


@pytest.mark.nightly  # two builds of vgemm, 180 s
def test_a_run_on_a_fast_build_says_so_and_has_the_norms_of_the_checked_one(project: Path) -> None:
    case = project / "sim" / "cases" / "mine.toml"
    case.write_text(CASE.replace('["ideal", "fixed", "stall"]', '["ideal"]') + 'builds = ["checked", "fast"]\n')
    fleet = [sys.executable, "-m", "fleet.cli.main", "case"]
    accepted = subprocess.run(
        [*fleet, "accept", str(case), "--only", "vgemm_small-ideal-0", "--reason", "test"], cwd=project,
        env={**os.environ, "PYTHONPATH": str(ROOT)}, capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert accepted.returncode == 0, accepted.stdout + accepted.stderr
    done = run(project, "sim", "-q")
    assert done.returncode == 0, done.stdout + done.stderr
    assert "4 passed" in done.stdout
    results = {
        name: CosimResult.load(project / f"reports/sim/mine/vgemm_small-ideal-0{name}/result.json") for name in ("", "-fast")
    }
    cuts = {name: [e.cut for e in result.engines if e.name == "rtl"] for name, result in results.items()}
    assert cuts == {"": [""], "-fast": [UNCHECKED]}
    assert not any(one.what == "norms" for one in results["-fast"].not_compared), "its norms are the checked run's"
    norms = next(project.rglob("norms.toml"))
    norms.write_text(re.sub(r'"rtl" = \d+', '"rtl" = 1', norms.read_text()))
    assert "norms: " in run(project, "sim", "-q", "-k", "ideal-0-fast").stdout


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGKILL])
def test_no_simulation_outlives_a_session_that_is_ended(project: Path, number: signal.Signals) -> None:
    session = subprocess.Popen(
        command("sim", "-q"), cwd=project, env={**os.environ, "PYTHONPATH": str(ROOT)}, stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL, process_group=0, preexec_fn=preexec(),  # noqa: PLW1509  # it only sets signals
    )  # fmt: skip
    try:
        _until(lambda: bool(simulations(project)) or session.poll() is not None)
        assert session.poll() is None, "the session ended by itself"
        session.send_signal(number)
        session.wait(timeout=60)
    finally:
        session.kill()
        session.wait()
    _until(lambda: not simulations(project), 20)
