"""A session's campaign holds everything that was collected, and the session ends with fleet's exit codes: real small sessions."""

from __future__ import annotations

import json
import shlex
import signal
import time
import xml.etree.ElementTree as ET
from collections import Counter
from pathlib import Path

import pytest
from test_pytest_plugin import project, run, started

from fleet.errors import ExitCode

__all__ = ["project"]  # a fixture

CONFTEST = (Path(__file__).parents[2] / "sim" / "conftest.py").read_text().partition("def pytest_addoption")[0]
BESIDE = {
    "sim/conformance/test_words.py": "import pytest\n\n@pytest.mark.parametrize('n', [1, 2])\ndef test_word(n):\n    assert n\n",
    "sim/test_beside.py": "def test_beside():\n    assert True\n",
}


@pytest.fixture
def campaign(project: Path) -> Path:
    """The small project with tests beside its cases, and the conftest of the regression."""
    (project / "sim" / "conftest.py").write_text(CONFTEST)
    write(project, BESIDE)
    return project


def write(project: Path, files: dict[str, str]) -> None:
    for name, text in files.items():
        (project / name).parent.mkdir(parents=True, exist_ok=True)
        (project / name).write_text(text)


def table(project: Path) -> dict[str, object]:
    return json.loads((project / "reports/sim/campaign.json").read_text())


def rows(project: Path) -> dict[str, tuple[str, str]]:
    return {r["name"]: (r["kind"], r["verdict"]) for r in table(project)["runs"]}  # type: ignore[index, attr-defined]


def red(project: Path) -> None:
    """Page, summary, JSON and JUnit say that it failed."""
    folder = project / "reports/sim"
    assert table(project)["verdict"] == "fail"
    assert (folder / "summary.md").read_text().startswith("# FAIL") or "✘" in (folder / "summary.md").read_text().splitlines()[0]
    assert int(ET.fromstring((folder / "junit.xml").read_text()).get("failures", "0")) > 0
    assert 'class="banner fail"' in (folder / "index.html").read_text()


@pytest.mark.parametrize("processes", ["0", "2"])
def test_everything_that_was_collected_is_a_row_of_its_kind(campaign: Path, processes: str) -> None:
    done = run(campaign, "sim", "-q", "-n", processes, "--junitxml", "pytest.xml")
    assert done.returncode == 0, done.stdout
    assert rows(campaign) == {
        "tiny[host-0]": ("case", "pass"),
        "sim/conformance/test_words.py::test_word[1]": ("conformance", "pass"),
        "sim/conformance/test_words.py::test_word[2]": ("conformance", "pass"),
        "sim/test_beside.py::test_beside": ("tests", "pass"),
    }
    assert table(campaign)["verdict"] == "pass"
    for file in ("reports/sim/junit.xml", "pytest.xml"):
        cases = list(ET.fromstring((campaign / file).read_text()).iter("testcase"))
        keys = Counter((c.get("classname"), c.get("name")) for c in cases)
        assert max(keys.values()) == 1, file
        assert all(c.get("time") and c.get("classname") for c in cases)
    ours = list(ET.fromstring((campaign / "reports/sim/junit.xml").read_text()).iter("testcase"))
    assert all(c.get("file") for c in ours)
    named = [c for c in ours if c.get("file") == "sim/cases/tiny.toml"]
    assert len(named) > 4
    assert all(str(c.get("classname")).startswith("tiny[host-0]") for c in named)


BAD = {
    "a failing test": ({"sim/faults/test_x.py": "def test_x():\n    assert 1 == 2\n"}, "sim/faults/test_x.py::test_x", "faults", 1),
    "a failing fixture": (
        {"sim/t/test_x.py": "import pytest\n\n@pytest.fixture\ndef f():\n    raise OSError\n\ndef test_x(f):\n    pass\n"},
        "sim/t/test_x.py::test_x", "t", 1,
    ),
    "a file that cannot be collected": ({"sim/t/test_x.py": "import no_such_module\n"}, "sim/t/test_x.py", "collection", 2),
    "a file that cannot be collected, the others run": (
        {"sim/t/test_x.py": "import no_such_module\n", "pytest.ini": "[pytest]\naddopts = --continue-on-collection-errors\n"},
        "sim/t/test_x.py", "collection", 2,
    ),
    "a bad case": ({"sim/cases/bad.toml": "name = 3\n"}, "bad.toml", "cases", 2),
    "a bad waiver": ({"sim/waivers.toml": "[[waiver]]\n"}, "waivers.toml", "cases", 2),
}  # fmt: skip


@pytest.mark.parametrize("kind", BAD)
def test_what_is_red_in_the_session_is_red_in_the_campaign(campaign: Path, kind: str) -> None:
    files, name, row, code = BAD[kind]
    write(campaign, files)
    done = run(campaign, "sim", "-q")
    assert done.returncode == code, done.stdout
    assert rows(campaign)[name] == (row, "fail")
    red(campaign)
    text = (campaign / "reports/sim/summary.md").read_text()
    assert name.split("/")[-1].split("::")[0] in text


def test_a_killed_process_is_red_in_the_campaign(campaign: Path) -> None:
    write(campaign, {"sim/t/test_x.py": "import os\n\ndef test_x():\n    os.kill(os.getpid(), 9)\n"})
    done = run(campaign, "sim", "-q", "-n", "2")
    assert done.returncode == ExitCode.INTERNAL, done.stdout
    assert rows(campaign)["sim/t/test_x.py::test_x"] == ("t", "fail")
    red(campaign)


def test_a_conftest_that_fails_the_session_is_red_in_the_campaign(campaign: Path) -> None:
    hook = "\n@pytest.hookimpl(tryfirst=True)\ndef pytest_sessionfinish(session):\n    session.exitstatus = 1\n"
    (campaign / "sim" / "conftest.py").write_text(CONFTEST + hook)
    assert run(campaign, "sim", "-q").returncode == 1
    assert rows(campaign)["session"] == ("session", "fail")
    red(campaign)


def test_what_was_not_run_is_red_in_the_campaign(campaign: Path) -> None:
    write(campaign, {"sim/a/test_x.py": "def test_x():\n    assert False\n"})
    assert run(campaign, "sim", "-q", "-x").returncode == 1
    assert rows(campaign)["sim/test_beside.py::test_beside"] == ("tests", "fail")
    assert "was collected and not run" in (campaign / "reports/sim/index.html").read_text()
    red(campaign)


def test_a_skipped_test_is_neither_green_nor_red(campaign: Path) -> None:
    write(campaign, {"sim/t/test_x.py": "import pytest\n\ndef test_x():\n    pytest.skip('no clang')\n"})
    assert run(campaign, "sim", "-q").returncode == 0
    assert rows(campaign)["sim/t/test_x.py::test_x"] == ("t", "skipped")
    assert table(campaign)["verdict"] == "pass"
    assert "no clang" in (campaign / "reports/sim/index.html").read_text()
    junit = ET.fromstring((campaign / "reports/sim/junit.xml").read_text())
    assert junit.get("skipped") == "1"


def test_exit_codes_of_sessions(campaign: Path) -> None:
    """pytest's own 2 to 5 in fleet's table, with processes and without; a session elsewhere keeps pytest's."""
    for processes, arguments, code in (
        ("0", ("sim", "--no-such-option"), ExitCode.BAD_INPUT),
        ("0", ("sim", "-k", "nothing_has_this_name"), ExitCode.INCOMPLETE),
        ("0", ("sim/test_gone.py",), ExitCode.BAD_INPUT),
        ("2", ("sim/test_beside.py::test_gone",), ExitCode.INCOMPLETE),
        ("0", ("sim/test_beside.py",), ExitCode.AGREED),
    ):
        done = run(campaign, *arguments, "-n", processes)
        assert done.returncode == code, (arguments, done.stdout, done.stderr)
        assert "Traceback" not in done.stderr
    write(campaign, {"elsewhere/test_y.py": "def test_y():\n    pass\n"})
    assert run(campaign, "elsewhere", "-k", "nothing").returncode == pytest.ExitCode.NO_TESTS_COLLECTED
    assert run(campaign, "elsewhere", "--no-such-option").returncode == pytest.ExitCode.USAGE_ERROR


def test_exit_code_of_a_bug_and_of_a_conftest_that_cannot_be_imported(campaign: Path) -> None:
    (campaign / "sim" / "conftest.py").write_text(
        CONFTEST + "\ndef pytest_collection_modifyitems(items):\n    raise ZeroDivisionError\n"
    )
    assert run(campaign, "sim").returncode == ExitCode.INTERNAL
    (campaign / "sim" / "conftest.py").write_text("import no_such_module\n")
    done = run(campaign, "sim")
    assert done.returncode == ExitCode.BAD_INPUT
    assert "conftest.py: ModuleNotFoundError: No module named 'no_such_module'" in done.stderr


@pytest.mark.parametrize("processes", ["0", "2"])
def test_exit_code_of_ctrl_c(campaign: Path, processes: str) -> None:
    write(
        campaign,
        {"sim/t/test_x.py": "import pathlib, time\n\ndef test_x():\n    pathlib.Path('begun').touch()\n    time.sleep(60)\n"},
    )
    process = started(campaign, "sim/t", "-n", processes)
    while not (campaign / "begun").exists():
        assert process.poll() is None
        time.sleep(0.05)
    process.send_signal(signal.SIGINT)
    assert process.wait(30) == ExitCode.INTERRUPTED


def test_a_bug_in_a_case_is_an_internal_error(campaign: Path) -> None:
    hook = "\nimport fleet.regress.case_runs as c\n\ndef broken(*_):\n    raise ZeroDivisionError('a bug')\n\nc.run_case = broken\n"
    (campaign / "sim" / "conftest.py").write_text(CONFTEST + hook)
    done = run(campaign, "sim", "-q")
    assert done.returncode == ExitCode.INTERNAL, done.stdout
    assert rows(campaign)["tiny[host-0]"] == ("case", "fail")
    assert "ZeroDivisionError" in json.dumps(table(campaign))


@pytest.mark.parametrize("processes", ["0", "2"])
def test_the_replay_of_a_test_of_the_nightly_tier_runs_it(campaign: Path, processes: str) -> None:
    """The recorded command, typed as it stands, fails in the same test; without the tier's option nothing would be collected."""
    text = "import pytest\n\npytestmark = pytest.mark.nightly\n\ndef test_rare():\n    assert 1 == 2\n"
    write(campaign, {"sim/test_rare.py": text})
    assert run(campaign, "sim", "--nightly", "-q", "-n", processes).returncode == 1
    (row,) = [r for r in table(campaign)["runs"] if "test_rare" in r["name"]]  # type: ignore[attr-defined]
    program, *arguments = shlex.split(row["replay"])
    assert (program, *arguments[:2]) == ("python", "-m", "pytest")
    again = run(campaign, *arguments[2:])
    assert again.returncode == 1
    assert "1 failed" in again.stdout
