"""A night on a Slurm of two nodes, while workers, daemons and the command itself are killed."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Callable, Generator
from contextlib import suppress
from pathlib import Path

import pytest
from two_nodes import TwoNodes, missing, two_nodes

from fleet.regress.night_records import latest, read_night

psutil = pytest.importorskip("psutil", reason="the extra `cluster` is not installed")
pytest.importorskip("dask_jobqueue", reason="the extra `cluster` is not installed")
REQUIRED = os.environ.get("FLEET_REQUIRE_SLURM") == "1"
pytestmark = [pytest.mark.nightly, pytest.mark.skipif(missing() is not None and not REQUIRED, reason=str(missing()))]

ROOT = Path(__file__).parents[2]
SHORT, RUNS = 58, 60
MODEL = """
import numpy as np

def forward(x: "float32[N, 4]", w: "float32[4, 3]"):
    return np.maximum(x @ w, 0)
"""
CASE = """
name = "tiny"
model = "../../model.py:forward"
golden = false
engines = ["vm", "cpython"]
[[runs]]
seeds = [0, 1]
"""
TESTS = """
import os, time, pytest

def append(name, n):
    with open(name, "a") as f:
        f.write(f"{n}\\n")

@pytest.mark.parametrize("n", range(58))
def test_short(n):
    append("starts.txt", n)
    time.sleep(6)
    append("ends.txt", n)
"""
CLUSTER = """
kind = "slurm"
workers = 2
memory = "1500MB"
walltime = "00:02:00"
margin = 15
queue = "night"
interface = "lo"
start_timeout = 40
"""


@pytest.fixture
def project(tmp_path: Path) -> Generator[Path]:
    """Sixty short runs, two of them of a case, in git."""
    for name, text in {
        "model.py": MODEL,
        "sim/cases/tiny.toml": CASE,
        "sim/short/test_short.py": TESTS,
        "sim/conftest.py": (ROOT / "sim" / "conftest.py").read_text().partition("def pytest_addoption")[0],
        "slurm.toml": CLUSTER,
        "pytest.ini": "[pytest]\n",
        ".gitignore": "reports\nstarts.txt\nends.txt\n__pycache__\n",
    }.items():
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(text)
    for words in (("init", "-q"), ("add", "."), ("-c", "user.name=ada", "-c", "user.email=a@b", "commit", "-q", "-m", "one")):
        subprocess.run(["git", *words], cwd=tmp_path, check=True)
    yield tmp_path
    for process in processes(tmp_path):
        with suppress(psutil.Error):
            process.kill()


def numbers(project: Path, name: str) -> list[int]:
    path = project / name
    return [int(word) for word in path.read_text().split()] if path.exists() else []


def records(project: Path) -> str:
    return "".join(p.read_text() for p in project.glob("reports/sim/night/nights/*/*.jsonl"))


def until(what: str, holds: Callable[[], bool], seconds: float) -> None:
    end = time.monotonic() + seconds
    while not holds():
        assert time.monotonic() < end, f"not within {seconds:g} s: {what}"
        time.sleep(0.2)


def processes(project: Path) -> list[psutil.Process]:
    """Workers, and what runs below them."""
    found: list[psutil.Process] = []
    for process in psutil.process_iter():
        with suppress(psutil.Error):
            mine = process.cwd() == str(project) and process.pid != os.getpid()
            if mine or (str(project) in " ".join(process.cmdline()) and process.name() != "slurmstepd"):
                found.append(process)
    return found


def workers(project: Path) -> list[psutil.Process]:
    return [p for p in processes(project) if "distributed.cli.dask_worker" in " ".join(p.cmdline())]


def started(project: Path, nodes: TwoNodes, *words: str) -> subprocess.Popen[bytes]:
    environment = {**nodes.environment, "PYTHONPATH": str(ROOT)}
    with (project.parent / "command.log").open("ab") as log:
        return subprocess.Popen([sys.executable, *words], cwd=project, env=environment, stdout=log, stderr=log)


def ended(project: Path, number: int) -> Callable[[], bool]:
    return lambda: len(numbers(project, "ends.txt")) >= number


def test_a_night_survives_what_befalls_it(project: Path) -> None:
    with two_nodes() as nodes:
        command = started(
            project, nodes, "-m", "fleet.cli.main", "night", "run", "--executor", "dask", "--cluster", "slurm.toml", "sim"
        )  # fmt: skip
        until("some runs", ended(project, 6), 120)
        workers(project)[0].kill()
        until("some more", ended(project, 14), 120)
        nodes.kill("slurmd-n1")
        nodes.restart("slurmctld")
        until("some more", ended(project, 24), 180)
        nodes.start("slurmd-n1")
        until("a worker ends before its walltime", lambda: "fits into its walltime" in records(project), 240)
        until("some more", ended(project, 40), 180)
        assert command.poll() is None
        command.send_signal(signal.SIGKILL)
        command.wait()
        until("the workers are gone", lambda: not processes(project), 60)
        until("the jobs are gone", lambda: not nodes.jobs(), 60)
        before = numbers(project, "ends.txt")
        second = started(project, nodes, "-m", "fleet.cli.main", "night", "resume")
        assert second.wait(400) == 0, (project.parent / "command.log").read_text()
        until("the workers are gone", lambda: not processes(project), 60)
        until("the jobs are gone", lambda: not nodes.jobs(), 60)

    ends, starts = numbers(project, "ends.txt"), numbers(project, "starts.txt")
    assert sorted(ends) == list(range(SHORT)), Counter(ends).most_common(5)
    assert len(before) >= 40
    reading = read_night(latest(project / "reports/sim/night"))
    assert len(reading.records) == RUNS
    assert not reading.attempts
    assert {r.outcome for r in reading.records} == {"passed"}
    assert reading.interrupted >= max(2, len(starts) - len(ends))
    assert not reading.partial
    page = (project / "reports/sim/night/index.html").read_text()
    assert f"{RUNS} of {RUNS} ran" in page
    assert f"{reading.interrupted} starts without a record" in page
    assert json.loads((project / "reports/sim/night/night.json").read_text())["verdict"] == "pass"
    assert len([note for note in reading.notes if note.kind == "interrupted" and "went away" in note.text]) >= 2
