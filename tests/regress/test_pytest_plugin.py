"""The plugin in pytest processes of its own, on a little project of its own; engines of the project run (vm, cpython)."""

import os
import subprocess
import sys
from importlib.metadata import entry_points
from pathlib import Path

import numpy as np
import pytest
import warm
from child_signals import preexec

ROOT = Path(__file__).parents[2]
MODEL = """
import numpy as np

def forward(x: "float32[N, 4]", w: "float32[4, 3]"):
    y = np.maximum(x @ w, 0)
    return y, np.argmax(y, axis=-1)
"""
CASE = """
name = "tiny"
model = "../../model.py:forward"
weights = "../../w.npz"
input = "../../x.npz"
golden = false
engines = ["vm", "cpython"]
make = "python make.py"
[[runs]]
[[runs]]
seeds = [5]
tier = "nightly"
"""


@pytest.fixture
def project(tmp_path: Path) -> Path:
    rng = np.random.default_rng(0)
    (tmp_path / "model.py").write_text(MODEL)
    np.savez(tmp_path / "w.npz", w=rng.normal(size=(4, 3)).astype(np.float32))
    np.savez(tmp_path / "x.npz", x=rng.normal(size=(5, 4)).astype(np.float32))
    (tmp_path / "sim" / "cases").mkdir(parents=True)
    (tmp_path / "sim" / "cases" / "tiny.toml").write_text(CASE)
    (tmp_path / "pytest.ini").write_text("[pytest]\n")
    return tmp_path


def command(*arguments: str) -> list[str]:
    known = any(e.name == "fleet" for e in entry_points(group="pytest11"))
    plugin = [] if known else ["-p", "fleet.regress.pytest_plugin"]
    without = ["-p", "no:cacheprovider", "-p", "no:hypothesispytest"]  # the latter imports Hypothesis into every session
    return [sys.executable, "-m", "pytest", *without, *plugin, *arguments]


def started(project: Path, *arguments: str) -> subprocess.Popen:
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    return subprocess.Popen(
        command(*arguments), cwd=project, env=environment, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, process_group=0,
        preexec_fn=preexec(),  # noqa: PLW1509  # it only sets signals
    )  # fmt: skip


def run(project: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    done = warm.run(command(*arguments), cwd=project, env={**os.environ, "PYTHONPATH": str(ROOT)})
    return subprocess.CompletedProcess(done.args, done.returncode, done.stdout.decode(), done.stderr.decode())


def test_quick_runs_are_collected_run_and_stored(project: Path):
    done = run(project, "sim", "-q")
    assert done.returncode == 0, done.stdout + done.stderr
    assert "1 passed, 1 deselected" in done.stdout
    assert (project / "reports/sim/tiny/host-0/result.json").exists()
    assert "2 passed" in run(project, "sim", "-q", "--nightly", "--fleet-report", "out", "-n", "2").stdout
    assert (project / "out/tiny/host-5/result.json").exists()


def test_a_failure_prints_one_command_that_replays_it(project: Path):
    (project / "w.npz").unlink()
    done = run(project, "sim")
    assert done.returncode == 2
    assert "weights: no such file w.npz; make it with `python make.py`" in done.stdout
    assert "replay: fleet case run sim/cases/tiny.toml --only host-0" in done.stdout
    assert "Traceback" not in done.stdout


def test_a_demanded_golden_that_is_missing_fails(project: Path):
    case = project / "sim/cases/tiny.toml"
    case.write_text(case.read_text().replace("golden = false", "golden = true"))
    done = run(project, "sim")
    assert done.returncode == 1
    assert "there is no golden" in done.stdout
    assert "replay: fleet case run sim/cases/tiny.toml --only host-0" in done.stdout


def test_a_run_that_compares_nothing_is_red_and_incomplete(project: Path):
    case = project / "sim/cases/tiny.toml"
    case.write_text(case.read_text().replace('["vm", "cpython"]', '["vm"]'))
    done = run(project, "sim", "-q")
    assert done.returncode == 4, done.stdout
    assert "1 failed, 1 deselected" in done.stdout
    assert "nothing compared: tiny[host-0]" in done.stdout
    assert "name at least two engines" in done.stdout
    assert "replay: fleet case run sim/cases/tiny.toml --only host-0" in done.stdout


def test_no_case_where_cases_are_asked_for_is_an_error(project: Path):
    (project / "sim/cases/tiny.toml").unlink()
    done = run(project, "sim")
    assert done.returncode == 2
    assert "no case was found in sim: nothing would be compared" in done.stdout + done.stderr


def test_a_bad_case_is_blamed_on_itself_and_the_others_run(project: Path):
    case = project / "sim/cases/tiny.toml"
    text = case.read_text()
    (case.with_name("a_bad.toml")).write_text(text.replace('"tiny"', '"bad"') + "tiers = 3\n")
    (case.with_name("u_bad.toml")).write_text(text.replace("\nengines", "\nengines = 1\n#"))
    (case.with_name("v_twice.toml")).write_text(text)
    done = run(project, "sim")
    assert done.returncode == 2
    assert "1 passed, 3 failed" in done.stdout or "3 failed, 1 passed" in done.stdout
    assert "sim/cases/a_bad.toml:13: unknown key runs[1].tiers" in done.stdout
    assert "sim/cases/u_bad.toml:7: engines is 1, expected a list of different names" in done.stdout
    assert "sim/cases/v_twice.toml:2: name 'tiny' is taken by " in done.stdout
    assert "Traceback" not in done.stdout


def test_an_unknown_engine_is_blamed_on_the_line_of_the_case(project: Path):
    case = project / "sim/cases/tiny.toml"
    case.write_text(case.read_text().replace('"cpython"]', '"cpyton"]'))
    done = run(project, "sim")
    assert done.returncode == 2
    assert "sim/cases/tiny.toml:7: no engine 'cpyton'; choose among" in done.stdout


WAIVER = """
[[waiver]]
case = "tiny"
comparison = "vm-vs-cpython"
op = "y"
owner = "ada"
reason = "r"
expires = 2001-01-01
"""


@pytest.mark.parametrize(
    ("old", "new", "says"),
    [
        ("x", "x", "waivers.toml:8: the waiver of y in tiny by ada expired on 2001-01-01"),
        ("2001", "9999", "waivers.toml:8: the waiver of y in tiny by ada ends on 9999-01-01, more than a year from today"),
        ("vm-vs-cpython", "cpython-vs-vm", "waivers.toml:4: the waiver names comparison 'cpython-vs-vm', which tiny does not"),
        ('"tiny"', '"tine"', "waivers.toml:3: the waiver names case 'tine', which does not exist"),
    ],
)
def test_a_waiver_of_nothing_or_for_ever_fails(project: Path, old: str, new: str, says: str):
    import datetime

    soon = datetime.datetime.now(datetime.UTC).date() + datetime.timedelta(30)
    text = WAIVER.replace(old, new)
    (project / "sim/waivers.toml").write_text(text if "2001" not in text or old == "x" else text.replace("2001-01-01", f"{soon}"))
    done = run(project, "sim")
    assert done.returncode == 1
    assert says in done.stdout


def test_the_plugin_is_inert_elsewhere(project: Path):
    (project / "test_x.py").write_text(
        "import sys\ndef test_x():\n    assert not any(m.startswith('fleet.isa') for m in sys.modules)\n"
    )
    (project / "other.toml").write_text("x = 1")
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    done = subprocess.run(command("test_x.py"), cwd=project, env=environment, capture_output=True, check=False)  # not warm
    assert b"1 passed" in done.stdout
