"""`fleet init --ci`: a nightly job for a service, and the script that all of them run."""

from __future__ import annotations

import os
import shlex
import signal
import subprocess
import time
from pathlib import Path

import pytest
from nightly_jobs import made, small

from fleet.cli.sets import init
from fleet.isa.scaffold.render import TEMPLATES

ROOT = Path(__file__).parents[2]
FILES = {
    "github": ".github/workflows/nightly.yml",
    "gitlab": ".gitlab-ci.yml",
    "cron": "nightly.cron",
    "slurm": "nightly.sbatch",
}


def test_every_kind_has_a_template_and_is_offered() -> None:
    (option,) = [p for p in init.command.params if p.name == "ci"]
    assert list(option.type.choices) == list(FILES)  # pyright: ignore[reportAttributeAccessIssue]
    assert {p.name for p in (TEMPLATES / "ci").iterdir()} == {"all", *FILES}


@pytest.mark.parametrize("kind", FILES)
def test_a_job_is_added_to_a_workspace(tmp_path: Path, kind: str) -> None:
    workspace = made(tmp_path / "w")
    before = {p: p.read_bytes() for p in workspace.rglob("*") if p.is_file()}
    made(workspace, kind)
    added = {p.relative_to(workspace).as_posix() for p in workspace.rglob("*") if p.is_file() and p not in before}
    assert added == {"nightly.sh", FILES[kind]}
    assert all(p.read_bytes() == content for p, content in before.items())
    assert "nightly.sh" in (workspace / FILES[kind]).read_text()


def test_a_second_job_shares_the_script(tmp_path: Path) -> None:
    workspace = made(made(tmp_path / "w", "github"), "slurm")
    assert (workspace / FILES["slurm"]).exists()


@pytest.mark.parametrize("kind", ["github", "gitlab"])
def test_a_service_can_read_its_file(tmp_path: Path, kind: str) -> None:
    yaml = pytest.importorskip("yaml")
    found = yaml.safe_load((made(tmp_path / "w", kind) / FILES[kind]).read_text())
    job = found["jobs"]["nightly"]["steps"] if kind == "github" else found["nightly"]["script"]
    assert any("nightly.sh" in str(step) for step in job)
    assert "{{ github.run_id }}" in str(found) or kind == "gitlab"


@pytest.mark.parametrize("file", ["nightly.sh", "nightly.sbatch"])
def test_a_shell_can_read_the_scripts(tmp_path: Path, file: str) -> None:
    subprocess.run(["sh", "-n", str(made(tmp_path / "w", "slurm") / file)], check=True)


def test_the_crontab_finds_a_folder_with_a_blank_and_a_percent_sign(tmp_path: Path) -> None:
    workspace = made(tmp_path / "a 50% share", "cron")
    line = (workspace / "nightly.cron").read_text().splitlines()[-1]
    assert "50\\% share" in line
    command = line.removeprefix("0 2 * * * ").replace("\\%", "%")
    assert shlex.split(command)[1] == str(workspace / "nightly.sh")


def with_tools(workspace: Path, pytest_says: str, collect_says: int) -> dict[str, str]:
    """An environment in which `pytest` runs a line of shell, and `fleet` leaves with a code."""
    tools = workspace / ".venv" / "bin"
    tools.mkdir(parents=True)
    for name, text in (("pytest", pytest_says), ("fleet", f'echo "$@" > collected; exit {collect_says}')):
        (tools / name).write_text(f"#!/bin/sh\n{text}\n")
        (tools / name).chmod(0o755)
    return {**os.environ, "JOBS": "3"}


@pytest.mark.parametrize(("run", "collect", "left"), [(0, 0, 0), (1, 1, 1), (1, 0, 1), (0, 1, 1), (4, 4, 4), (2, 0, 2), (3, 1, 1)])
def test_the_script_leaves_with_the_worst(tmp_path: Path, run: int, collect: int, left: int) -> None:
    workspace = made(tmp_path / "w", "cron")
    environment = with_tools(workspace, f'echo "$@" > ran; exit {run}', collect)
    done = subprocess.run(["sh", str(workspace / "nightly.sh")], env=environment, cwd=tmp_path, check=False)
    assert done.returncode == left
    assert (workspace / "ran").read_text() == "sim/ --nightly -n 3\n"
    assert (workspace / "collected").read_text() == "night collect\n"


def test_a_night_that_is_ended_is_collected(tmp_path: Path) -> None:
    workspace = made(tmp_path / "w", "slurm")
    slow = "trap 'sleep 0.5; echo partial > ran; exit 4' TERM; echo up > started; while :; do sleep 0.1; done"
    night = subprocess.Popen(["sh", str(workspace / "nightly.sh")], env=with_tools(workspace, slow, 4))
    deadline = time.monotonic() + 30
    while not (workspace / "started").exists() and time.monotonic() < deadline:
        time.sleep(0.05)
    night.send_signal(signal.SIGTERM)
    assert night.wait(30) == 4
    assert (workspace / "ran").read_text() == "partial\n"
    assert (workspace / "collected").exists()


NOTHING = "#!/bin/sh\nexit 0\n"


def steps(workspace: Path, kind: str) -> list[str]:
    """The lines of shell that the service would run, in order."""
    text = (workspace / FILES[kind]).read_text()
    if kind == "cron":
        command = text.splitlines()[-1].removeprefix("0 2 * * * ")
        return [command.replace("\\%", "%")]
    yaml = pytest.importorskip("yaml")
    found = yaml.safe_load(text)
    if kind == "gitlab":
        return [*found["nightly"]["before_script"], *found["nightly"]["script"]]
    return [step["run"] for step in found["jobs"]["nightly"]["steps"] if "run" in step]


@pytest.mark.parametrize("kind", ["cron", *(pytest.param(k, marks=pytest.mark.nightly) for k in ("github", "gitlab"))])
def test_the_job_runs(tmp_path: Path, kind: str) -> None:
    """As the service does: its own folder, a bare environment. What installs is there and does nothing."""
    workspace = small(tmp_path / "my work", kind)
    stubs = tmp_path / "stubs"
    stubs.mkdir()
    for name in ("sudo", "apt-get", "pip"):
        (stubs / name).write_text(NOTHING)
        (stubs / name).chmod(0o755)
    summary = tmp_path / "summary.md"
    environment = {
        "PATH": f"{stubs}:/usr/bin:/bin", "HOME": str(tmp_path), "SHELL": "/bin/sh", "JOBS": "1",
        "GITHUB_STEP_SUMMARY": str(summary), "FLEET_CACHE": str(tmp_path / "cache"),
    }  # fmt: skip
    place = tmp_path if kind == "cron" else workspace
    for step in steps(workspace, kind):
        done = subprocess.run(["sh", "-c", step], cwd=place, env=environment, capture_output=True, text=True, check=False)
        assert done.returncode == 0, f"{step}\n{done.stdout}{done.stderr}"
    assert "✔ pass" in (workspace / "reports" / "sim" / "night" / "summary.md").read_text()
    if kind == "cron":
        assert "1 passed" in (workspace / "reports" / "nightly.log").read_text()
    if kind == "github":
        assert "✔ pass" in summary.read_text()
