"""`pytest sim/ --executor dask` on workers of this machine: verdicts, deaths, what a killed command leaves."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
import xml.etree.ElementTree as ET
from collections.abc import Generator
from contextlib import suppress
from pathlib import Path

import pytest

from fleet.errors import ExitCode
from fleet.regress.night_records import NightRecord, Reading, latest, read_night

psutil = pytest.importorskip("psutil", reason="the extra `cluster` is not installed")
pytest.importorskip("dask_jobqueue", reason="the extra `cluster` is not installed")

ROOT = Path(__file__).parents[2]
MODEL = """
import numpy as np

def forward(x: "float32[N, 4]", w: "float32[4, 3]"):
    return np.maximum(x @ w, 0)
"""
CASE = 'name = "tiny"\nmodel = "../../model.py:forward"\ngolden = false\nengines = ["vm", "cpython"]\n'
KINDS = """
import os, time, pytest

@pytest.mark.parametrize("n", range(4))
def test_passes(n, record_property):
    record_property("n", n)

def test_fails():
    assert 1 == 2

def test_skips():
    pytest.skip("no reason")

def test_dies():
    os.kill(os.getpid(), 9)

def test_eats():
    held = bytearray(1_500_000_000)
    held[::4096] = b"x" * len(held[::4096])
    time.sleep(20)
"""
WAITS = """
import os, time, pytest

@pytest.fixture(scope="session")
def warm():
    with open("warm.txt", "a") as f:
        f.write(os.environ["PYTEST_XDIST_WORKER"] + " ")
    yield
    with open("cold.txt", "a") as f:
        f.write(os.environ["PYTEST_XDIST_WORKER"] + " ")

@pytest.mark.parametrize("n", range(8))
def test_waits(n, warm):
    with open("starts.txt", "a") as f:
        f.write(f"{n}\\n")
    os.system("sleep 0.5")
    with open("ends.txt", "a") as f:
        f.write(f"{n}\\n")
"""


@pytest.fixture
def project(tmp_path: Path) -> Generator[Path]:
    for name, text in {
        "model.py": MODEL, "sim/cases/tiny.toml": CASE, "pytest.ini": "[pytest]\n", ".gitignore": "reports\n*.txt\n__pycache__\n",
        "local.toml": 'kind = "local"\nworkers = 2\nmemory = "1GB"\n',
        "sim/conftest.py": (ROOT / "sim" / "conftest.py").read_text().partition("def pytest_addoption")[0],
    }.items():  # fmt: skip
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(text)
    yield tmp_path
    for process in processes(tmp_path):
        with suppress(psutil.Error):
            process.kill()


def processes(project: Path) -> list[psutil.Process]:
    """Processes that work for the project."""
    found: list[psutil.Process] = []
    for process in psutil.process_iter():
        with suppress(psutil.Error):
            if process.pid != os.getpid() and (process.cwd() == str(project) or str(project) in " ".join(process.cmdline())):
                found.append(process)
    return found


def ended(command: subprocess.Popen[str]) -> str:
    """Wait for a command and return what it printed; one that hangs tells where."""
    try:
        return command.communicate(timeout=240)[0]
    except subprocess.TimeoutExpired:
        command.send_signal(signal.SIGABRT)  # pytest's faulthandler prints the stacks of all threads
        pytest.fail(f"the command hangs:\n{command.communicate(timeout=30)[0]}")


def started(project: Path, *words: str) -> subprocess.Popen[str]:
    command = [
        sys.executable,
        "-m",
        "pytest",
        "-q",
        "-p",
        "no:cacheprovider",
        "-p",
        "no:hypothesispytest",
        "--executor",
        "dask",
        *words,
    ]
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    return subprocess.Popen(command, cwd=project, env=environment, stdout=-1, stderr=-2, text=True)


def committed(project: Path, **files: str) -> None:
    for name, text in files.items():
        (project / "sim" / name).mkdir()
        (project / "sim" / name / f"test_{name}.py").write_text(text)
    for words in (("init", "-q"), ("add", "."), ("-c", "user.name=ada", "-c", "user.email=a@b", "commit", "-q", "-m", "one")):
        subprocess.run(["git", *words], cwd=project, check=True)


def reading(project: Path) -> Reading:
    return read_night(latest(project / "reports/sim/night"))


def test_every_kind_of_end_is_a_record(project: Path) -> None:
    committed(project, kinds=KINDS)
    command = started(project, "sim", "--cluster", "local.toml")
    told = ended(command)
    assert command.returncode == ExitCode.DIFFERS, told
    assert "3 failed, 5 passed, 1 skipped" in told
    found = reading(project)
    last = {r.key.rpartition("::")[2]: r for r in found.records}
    assert len(last) == len(found.records) == 9
    assert not found.attempts
    assert not found.partial
    assert last["tiny[host-0]"].outcome == "passed"
    assert last["tiny[host-0]"].content
    assert last["test_passes[2]"].properties == {"n": 2}
    assert last["test_skips"].outcome == "skipped"
    verdict(last["test_fails"], ExitCode.DIFFERS, "assert 1 == 2")
    verdict(last["test_dies"], ExitCode.INCOMPLETE, "killed by SIGKILL")
    verdict(last["test_eats"], ExitCode.INCOMPLETE, "the worker's limit is 1.00 GB")
    assert last["test_eats"].signature == "memory limit of the worker"
    assert found.interrupted == 3  # twice died, once too much memory
    assert [n.kind for n in found.notes] == ["dashboard", "interrupted"]
    table = json.loads((project / "reports/sim/night/night.json").read_text())
    assert table["verdict"] == "fail"
    assert len(table["causes"]) == 3
    junit = ET.fromstring((project / "reports/sim/night/junit.xml").read_text())
    names = [(case.get("classname"), case.get("name")) for case in junit.iter("testcase")]
    assert len(names) == len(set(names)) == 9
    page = (project / "reports/sim/night/index.html").read_text()
    assert "3 starts without a record" in page
    assert "killed by SIGKILL" in page
    assert not processes(project)


def verdict(record: NightRecord, code: ExitCode, words: str) -> None:
    assert (record.outcome, record.code) == ("failed", code)
    assert words in record.error


def test_a_killed_command_leaves_nothing_and_the_next_one_repeats_nothing(project: Path) -> None:
    committed(project, waits=WAITS)
    command = started(project, "sim", "--cluster", "local.toml")
    ends = project / "ends.txt"
    end = time.monotonic() + 60
    while not ends.exists() or len(ends.read_text().split()) < 3:
        assert command.poll() is None
        assert time.monotonic() < end
        time.sleep(0.05)
    command.send_signal(signal.SIGKILL)
    command.wait()
    end = time.monotonic() + 60
    while left := processes(project):
        assert time.monotonic() < end, left
        time.sleep(0.1)
    assert reading(project).partial
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    resume = [sys.executable, "-m", "fleet.cli.main", "night", "resume"]
    done = subprocess.run(resume, cwd=project, env=environment, capture_output=True, text=True, timeout=120, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    assert "resumes night" in done.stdout
    assert sorted(map(int, ends.read_text().split())) == list(range(8))
    warm, cold = ((project / name).read_text().split() for name in ("warm.txt", "cold.txt"))
    resumed = {name for name in warm if f"-{command.pid}-" not in name}
    assert len(warm) == len(set(warm))  # one set-up a worker
    assert len(cold) == len(set(cold))
    assert 1 <= len(resumed) <= 2
    assert resumed <= set(cold) <= set(warm)  # fixtures of the session end with a process that is not killed
    found = reading(project)
    assert len(found.records) == 9
    assert not found.attempts
    assert found.interrupted >= len((project / "starts.txt").read_text().split()) - 8
    again = subprocess.run(resume, cwd=project, env=environment, capture_output=True, text=True, timeout=120, check=False)
    assert again.returncode == ExitCode.BAD_INPUT
    assert "has ended" in again.stderr


# What a worker logs before its registration is complete is lost.
DEAF = "def dask_setup(worker):\n    worker.log_event = lambda topic, message: None\n"


@pytest.mark.parametrize("heard", [True, pytest.param(False, marks=pytest.mark.nightly)])
def test_a_scheduler_that_runs_already_serves_one_session_after_the_other(project: Path, heard: bool) -> None:
    """Its workers live on; they are found, too, if their arrival was not heard."""
    committed(project, quick="def test_quick():\n    assert True\n")
    dask = [sys.executable, "-m", "distributed.cli.dask_scheduler", "--host", "127.0.0.1", "--port", "0", "--no-dashboard"]
    file = project / "scheduler.txt"
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    there = ["--scheduler-file", str(file), "--no-nanny", "--no-dashboard"]
    (project / "deaf.py").write_text(DEAF)
    there += [] if heard else ["--preload", str(project / "deaf.py")]
    with open(project / "dask.log", "wb") as log:
        quiet = {"cwd": project, "env": environment, "stdout": log, "stderr": log}
        scheduler = subprocess.Popen([*dask, "--scheduler-file", str(file)], **quiet)
        worker = subprocess.Popen([sys.executable, "-m", "distributed.cli.dask_worker", *there], **quiet)
    try:
        (project / "there.toml").write_text(f'kind = "scheduler"\naddress = "{_address(file)}"\n')
        for _ in range(2):
            command = started(project, "sim", "--cluster", "there.toml", "--fresh")
            told = ended(command)
            assert command.returncode == 0, told + (project / "dask.log").read_text()
            assert "2 passed" in told
        assert worker.poll() is None
    finally:
        worker.kill()
        scheduler.kill()
        worker.wait()
        scheduler.wait()


def test_a_scheduler_without_workers_is_told(project: Path) -> None:
    committed(project, quick="def test_quick():\n    assert True\n")
    file = project / "scheduler.txt"
    dask = [sys.executable, "-m", "distributed.cli.dask_scheduler", "--host", "127.0.0.1", "--port", "0", "--no-dashboard"]
    with subprocess.Popen([*dask, "--scheduler-file", str(file)], cwd=project, stderr=subprocess.DEVNULL) as scheduler:
        try:
            (project / "there.toml").write_text(f'kind = "scheduler"\naddress = "{_address(file)}"\n')
            with started(project, "sim", "--cluster", "there.toml", "--fresh") as command:
                assert command.stdout is not None
                assert any("none has joined the scheduler at" in line for line in command.stdout)
                command.kill()
        finally:
            scheduler.kill()


def _address(file: Path) -> str:
    """Return the address of a scheduler once it has written its file, which it does in pieces."""
    end = time.monotonic() + 60
    while True:
        with suppress(OSError, ValueError):
            return json.loads(file.read_text())["address"]
        assert time.monotonic() < end
        time.sleep(0.05)


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ('kind = "slurm"\nworkers = 2\nmemory = "1GB"\n', "walltime is missing"),
        ('kind = "slurm"\nworkers = 2\nmemory = "much"\nwalltime = "01:00"\n', "memory is 'much', expected a size"),
        ('kind = "slurm"\nworkers = 2\nmemory = "1GB"\nwalltime = "00:00:30"\n', "has no time for runs"),
        ('kind = "cloud"\n', "expected one of local, slurm"),
        ("workers = 2\n", "kind is missing"),
        ('kind = "local"\nadress = "x"\n', "unknown key adress"),
        ('kind = "local"\naddress = "x"\n', "belongs to kind = 'scheduler'"),
    ],
)
def test_a_bad_file_of_a_cluster_is_named_with_its_line(tmp_path: Path, text: str, words: str) -> None:
    from fleet.errors import ModelError
    from fleet.night.cluster.settings import read_cluster

    (tmp_path / "c.toml").write_text(text)
    with pytest.raises(ModelError, match=r"c\.toml:\d") as raised:
        read_cluster(tmp_path / "c.toml")
    assert words in str(raised.value)


def test_a_cluster_is_read(tmp_path: Path) -> None:
    from fleet.night.cluster.settings import read_cluster

    (tmp_path / "c.toml").write_text('kind = "lsf"\nworkers = 9\nmemory = "2GiB"\nwalltime = "04:30"\nfolder = "logs"\n')
    found = read_cluster(tmp_path / "c.toml")
    assert (found.kind, found.workers, found.memory, found.walltime, found.lifetime) == ("lsf", 9, 2**31, 16200.0, 16140.0)
    assert found.folder == tmp_path / "logs"
