"""Sessions are recorded as they run, end with a partial page, and are gone on with: real small sessions."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import time
from pathlib import Path

import pytest
from test_pytest_campaign import CONFTEST, rows, write
from test_pytest_plugin import CASE, project, run, started

from fleet.errors import ExitCode
from fleet.regress.night_records import latest, read_night

__all__ = ["project"]  # a fixture

WAITING = """
import pathlib, time, pytest

@pytest.mark.parametrize("n", range(6))
def test_waits(n):
    with open("ran.txt", "a") as f:
        f.write(f"{n}\\n")
    while n == 3 and pathlib.Path("hold").exists():
        time.sleep(0.02)
    assert n != 1
"""


@pytest.fixture
def checkout(project: Path) -> Path:
    """The small project in git, with the conftest of the regression; its reports are ignored."""
    write(
        project,
        {"sim/conftest.py": CONFTEST, "sim/slow/test_slow.py": WAITING, ".gitignore": "reports\nran.txt\nhold\n__pycache__\n"},
    )
    for words in (("init", "-q"), ("add", "."), ("-c", "user.name=ada", "-c", "user.email=a@b", "commit", "-q", "-m", "one")):
        subprocess.run(["git", *words], cwd=project, check=True)
    return project


def night(project: Path) -> dict[str, object]:
    return json.loads((project / "reports/sim/night/night.json").read_text())


def ended(project: Path, number: int, *arguments: str) -> int:
    """A session that is ended by a signal while its fourth test waits; its exit code."""
    (project / "hold").touch()
    process = started(project, "sim", "-p", "no:randomly", *arguments)
    begin = time.monotonic()
    while "3" not in ((project / "ran.txt").read_text().split() if (project / "ran.txt").exists() else []):
        assert process.poll() is None
        assert time.monotonic() - begin < 60
        time.sleep(0.02)
    process.send_signal(number)
    code = process.wait(60)
    if number == signal.SIGKILL:
        os.killpg(process.pid, signal.SIGKILL) if arguments else None
    (project / "hold").unlink()
    return code


def test_sigterm_leaves_a_partial_page_and_the_next_run_goes_on(checkout: Path) -> None:
    assert ended(checkout, signal.SIGTERM) == ExitCode.TERMINATED
    table = night(checkout)
    assert str(table["headline"]).startswith("partial: 4 of 7")
    assert "Partial: 4 of 7" in (checkout / "reports/sim/night/index.html").read_text()
    done = run(checkout, "sim", "-q")
    assert done.returncode == 1, done.stdout
    assert f"resumes night {table['night']}: 4 tests are finished, 1 of them failed" in done.stdout
    assert (checkout / "ran.txt").read_text().split() == ["0", "1", "2", "3", "3", "4", "5"]
    after = night(checkout)
    assert after["night"] == table["night"]
    assert (after["partial"], after["finished"], after["planned"]) == (False, 7, 7)
    assert rows(checkout)["sim/slow/test_slow.py::test_waits[1]"] == ("slow", "fail")
    again = run(checkout, "sim", "-q")
    assert "resumes night" not in again.stdout
    assert night(checkout)["night"] != table["night"]


def test_what_changed_since_is_not_carried_over(checkout: Path) -> None:
    ended(checkout, signal.SIGTERM)
    (checkout / "model.py").write_text((checkout / "model.py").read_text() + "\n# another word\n")
    done = run(checkout, "sim", "-q")
    assert "resumes night" not in done.stdout
    assert (checkout / "ran.txt").read_text().split() == ["0", "1", "2", "3", "0", "1", "2", "3", "4", "5"]


def test_another_selection_and_fresh_begin_anew(checkout: Path) -> None:
    ended(checkout, signal.SIGTERM)
    assert "resumes night" not in run(checkout, "sim/slow", "-q").stdout
    (checkout / "ran.txt").unlink()
    ended(checkout, signal.SIGTERM)
    assert "resumes night" not in run(checkout, "sim", "-q", "--fresh").stdout


def test_a_session_that_was_killed_is_collected(checkout: Path) -> None:
    assert ended(checkout, signal.SIGKILL) == -signal.SIGKILL
    assert not (checkout / "reports/sim/night/index.html").exists()
    reading = read_night(latest(checkout / "reports/sim/night"))
    assert (len(reading.records), len(reading.planned), reading.interrupted) == (4, 7, 1)
    done = subprocess.run(
        [os.sys.executable, "-m", "fleet.cli.main", "night", "collect"], cwd=checkout, capture_output=True, text=True, check=False,
        env={**os.environ, "PYTHONPATH": str(Path(__file__).parents[2])},
    )  # fmt: skip
    assert done.returncode == 1, done.stderr
    assert done.stdout.startswith("partial: 4 of 7; 1 new failure, 1 cause; 3 not run; ")
    for name in ("index.html", "junit.xml", "summary.md", "night.json"):
        assert (checkout / "reports/sim/night" / name).exists()
    done = run(checkout, "sim", "-q", "-n", "2")
    assert "4 tests are finished" in done.stdout
    assert sorted((checkout / "ran.txt").read_text().split()) == ["0", "1", "2", "3", "3", "4", "5"]


def test_every_row_is_recorded_with_processes_and_without(checkout: Path) -> None:
    for processes in ("0", "2"):
        run(checkout, "sim", "-q", "-n", processes)
        reading = read_night(latest(checkout / "reports/sim/night"))
        found = {r.key: r for r in reading.records}
        assert len(found) == 7
        case = found["tiny[host-0]"]
        assert (case.outcome, case.seed, case.group, case.case) == ("passed", 0, "tiny[host]", "tiny")
        assert case.content
        assert any(name.startswith("over vm-vs-cpython") for name in case.figures)
        assert case.replay == "fleet case run sim/cases/tiny.toml --only host-0"
        test = found["sim/slow/test_slow.py::test_waits[1]"]
        assert (test.outcome, test.code, test.kind) == ("failed", 1, "slow")
        assert test.signature
        assert test.content == found["sim/slow/test_slow.py::test_waits[0]"].content
        assert case.processor > 0
        assert not reading.partial


def test_a_test_adds_to_its_record(checkout: Path) -> None:
    text = "def test_x(night_row):\n    night_row |= {'seed': 7, 'figures': {'coverage mvm': 0.5}}\n"
    write(checkout, {"sim/cov/test_cov.py": text})
    run(checkout, "sim/cov", "-q")
    (record,) = read_night(latest(checkout / "reports/sim/night")).records
    assert (record.seed, record.figures) == (7, {"coverage mvm": 0.5})


def test_a_process_that_dies_is_recorded(checkout: Path) -> None:
    write(checkout, {"sim/t/test_x.py": "import os\n\ndef test_x():\n    os.kill(os.getpid(), 9)\n"})
    assert run(checkout, "sim", "-q", "-n", "2").returncode == ExitCode.DIFFERS
    found = {r.key: r for r in read_night(latest(checkout / "reports/sim/night")).records}
    assert found["sim/t/test_x.py::test_x"].code == ExitCode.INTERNAL


def known(day: str) -> str:
    return CASE.replace(
        "golden = false", f'golden = false\nknown_failure = {{ owner = "ada", reason = "no divider", expires = {day} }}'
    )


def test_a_known_failure_is_not_red_and_one_that_passes_or_expired_is(checkout: Path) -> None:
    case = checkout / "sim/cases/tiny.toml"
    import datetime

    soon = str(datetime.date.today() + datetime.timedelta(days=9))
    (checkout / "sim/slow/test_slow.py").unlink()
    case.write_text(known(soon).replace('["vm", "cpython"]', '["vm"]'))
    done = run(checkout, "sim", "-q")
    assert done.returncode == 0, done.stdout
    assert rows(checkout)["tiny[host-0]"] == ("case", "skipped")
    assert f"ada: no divider (until {soon})" in (checkout / "reports/sim/night/index.html").read_text()
    case.write_text(known(soon))
    done = run(checkout, "sim", "-q")
    assert done.returncode == 1
    assert "passes, and is a known failure of ada: no divider" in done.stdout
    assert "sim/cases/tiny.toml:7" in done.stdout
    case.write_text(known("2001-01-01"))
    done = run(checkout, "sim", "-q")
    assert done.returncode == 1
    assert "the known failure of ada expired on 2001-01-01 (no divider)" in done.stdout


def test_a_run_that_takes_too_long_is_ended(checkout: Path) -> None:
    (checkout / "sim/slow/test_slow.py").unlink()
    case = checkout / "sim/cases/tiny.toml"
    case.write_text(CASE.replace("golden = false", "golden = false\ntimeout = 0.2"))
    hook = "\nimport time, fleet.regress.case_runs as c\n\ndef slow(*_):\n    time.sleep(30)\n\nc.run_case = slow\n"
    (checkout / "sim" / "conftest.py").write_text(CONFTEST + hook)
    begin = time.monotonic()
    done = run(checkout, "sim", "-q")
    assert done.returncode == ExitCode.INCOMPLETE, done.stdout
    assert time.monotonic() - begin < 25
    assert "tiny[host-0]: ended after 0.2 s, its timeout" in done.stdout


def test_a_budget_takes_what_failed_first_and_says_what_it_left_out(checkout: Path) -> None:
    text = WAITING.replace("assert n != 1", "time.sleep(0.3)\n    assert n != 4")
    write(checkout, {"sim/slow/test_slow.py": text})
    assert run(checkout, "sim", "-q").returncode == 1
    done = run(checkout, "sim", "-q", "--budget", "1s")
    assert done.returncode == 1, done.stdout
    found = read_night(latest(checkout / "reports/sim/night"))
    ran = [r.node for r in found.records]
    assert "sim/slow/test_slow.py::test_waits[4]" in ran
    assert 2 <= len(ran) < 7
    assert len(found.left_out) + len(ran) == 7
    assert not found.partial
    assert f"{len(found.left_out)} left out by the budget" in str(night(checkout)["headline"])
    assert "Left out by the budget" in (checkout / "reports/sim/night/index.html").read_text()
    refused = run(checkout, "sim", "-q", "--budget", "soon")
    assert refused.returncode == ExitCode.BAD_INPUT
    assert "give 8h, 30m or 90s" in refused.stderr + refused.stdout


def test_what_cannot_be_resumed_says_why(checkout: Path) -> None:
    assert run(checkout, "sim", "-q").returncode == 1
    done = run(checkout, "sim", "-q", "--resume")
    assert done.returncode == ExitCode.BAD_INPUT
    assert "the last night cannot be resumed" in done.stderr
    assert "has ended" in done.stderr


def test_a_failure_that_new_norms_accept_is_not_flaky(checkout: Path) -> None:
    """The run is the same, and what it is held to is not."""
    golden = checkout / "golden" / "tiny"
    golden.mkdir(parents=True)
    (golden / "norms.toml").write_text("of another format\n")
    assert run(checkout, "sim/cases", "-q").returncode == 1
    (golden / "norms.toml").unlink()
    done = run(checkout, "sim/cases", "-q")
    assert done.returncode == 0, done.stdout
    assert "1 fixed" in str(night(checkout)["headline"])
    assert "flaky" not in str(night(checkout)["headline"])
