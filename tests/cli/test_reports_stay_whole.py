"""Full disks, read-only folders, signals and two runs at once: never half a report in place of a good one, never an orphan."""

from __future__ import annotations

import json
import os
import resource
import shutil
import signal
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from command_line import ENTRY, Fleet, Refused, environment, tree

from fleet.cosim.models.loaded import load_model
from fleet.cosim.result import CosimResult
from fleet.engines.trace import Trace
from fleet.errors import FleetError
from fleet.regress.cases import add_case
from fleet.regress.golden import GoldenProvenance, store_golden
from fleet.targets.bytecode.convert import ByteCodeConverter
from fleet.targets.riscv.compile import compile_riscv

MODEL = ("cosim", "model.py:forward", "--weights", "w.npz", "--input", "x.npz")
COSIM = (*MODEL, "--engines", "vm,riscv")
RTL = (*MODEL, "--engines", "vm,rtl", "--device", "hbm_small")


@pytest.fixture
def report(dense: Path, stored: Path) -> Path:
    """A good report, beside the model and its data."""
    shutil.copytree(stored, dense / "r")
    return dense / "r"


def whole(folder: Path) -> dict[str, object]:
    """The stored result, after checking that all in the folder is of one run, but for the page that it replaced."""
    assert CosimResult.load(folder).verdict == "pass"
    result = json.loads((folder / "result.json").read_text())
    arrays = result["arrays_file"]
    assert set(tree(folder)) - {"previous.html"} == {"result.json", "report.json", "index.html", "junit.xml", "summary.md", arrays}
    mine = json.loads((folder / "report.json").read_text())["result"]
    assert mine == {k: v for k, v in result.items() if k not in {"arrays_file", "arrays_sha256"}}
    return mine


WRITERS: dict[str, Callable[[Path], object]] = {
    "trace": lambda p: Trace("vm", "0").save(p),
    "result": lambda p: CosimResult.load(p.parent / "r").save(p.parent),
    "golden": lambda p: store_golden(
        p.parent,
        GoldenProvenance("c", "why", "", "", "", "", 0, {}, {}),
        {"8/op/a/index": np.zeros(1), "8/op/a/value": np.zeros(1)},
    ),
    "bytecode": lambda p: (
        ByteCodeConverter(load_model(str(p.parent / "model.py:forward"), None, None, 0, 2).program).convert().save(p)
    ),
    "riscv": lambda p: compile_riscv(load_model(str(p.parent / "model.py:forward"), None, None, 0, 2).program).save(p),
    "case": lambda p: add_case(p.parent / "new.toml", {"name": "c", "model": "model.py:forward", "engines": ["vm"]}),
}
PLACES = {"trace": "old", "result": "result.json", "golden": "golden.npz", "bytecode": "old", "riscv": "old", "case": "old"}


@pytest.mark.parametrize("writer", WRITERS)
def test_a_full_disk_leaves_the_old_file(report: Path, monkeypatch: pytest.MonkeyPatch, writer: str) -> None:
    folder = report.parent
    (folder / PLACES[writer]).write_text("good")
    before = tree(folder)
    real = os.fdopen

    def full(fd: int, mode: str = "r", *rest: object, **keywords: object) -> object:
        os.close(fd)
        return real(os.open("/dev/full", os.O_WRONLY), mode, *rest, **keywords)  # type: ignore[call-overload]

    monkeypatch.setattr(os, "fdopen", full)
    with pytest.raises(FleetError, match=r"cannot (be written|write) \(No space left on device\)") as error:
        WRITERS[writer](folder / "old")
    monkeypatch.undo()
    assert str(folder) in str(error.value)
    assert tree(folder) == before


def limit_file_size() -> None:
    resource.setrlimit(resource.RLIMIT_FSIZE, (20_000, 20_000))


def test_no_room_for_the_report(report: Path, refused: Refused) -> None:
    before = tree(report)
    refused(*COSIM, "--seed", "1", "--report", "r", words=("r/", "cannot be written", "untouched"), preexec_fn=limit_file_size)
    assert tree(report) == before
    whole(report)


@pytest.mark.parametrize("folder", ["/proc/fleet-report", "w.npz/r"])
def test_a_folder_that_cannot_be_written(dense: Path, refused: Refused, folder: str) -> None:
    ran = refused(*COSIM, "--report", folder, words=(f"{folder}: cannot be written",))
    assert ran.out == ""  # said before anything ran


ENDINGS = {
    "SIGINT": (130, "fleet: interrupted; results that were already stored are untouched"),
    "SIGTERM": (143, "fleet: ended by SIGTERM; results that were already stored are untouched"),
    "SIGHUP": (129, "fleet: ended by SIGHUP; results that were already stored are untouched"),
}


def endings(*names: str) -> pytest.MarkDecorator:
    """The three take one way; what stops where is asked with some of them."""
    return pytest.mark.parametrize("name", names)


AT_RUN = """
import os, pathlib, signal
from fleet.engines.rtl_sim import process
reply = process.Simulation._reply
def interrupted(self, timeout):
    if timeout is None:
        pathlib.Path("pid").write_text(str(self.pid))
        os.kill(os.getpid(), signal.{name})
    return reply(self, timeout)
process.Simulation._reply = interrupted
"""

AT_BUILD = """
import os, signal
from fleet.engines.rtl_sim import build
def compile(design, folder, plan, tell):
    command = ["sh", "-c", "sleep {seconds} & sleep {seconds}"]
    build._step(command, folder, dict(os.environ), design, lambda _: os.kill(os.getpid(), signal.{name}))
build._compile = compile
"""

AT_WRITING = """
import os, signal
fsync, calls = os.fsync, []
def interrupted(fd):
    calls.append(fd)
    if len(calls) == 2:
        os.kill(os.getpid(), signal.{name})
    fsync(fd)
os.fsync = interrupted
"""

AT_RENAMING = """
import os, signal
replace = os.replace
def interrupted(source, target):
    if str(target).endswith("report.json"):
        os.kill(os.getpid(), signal.{name})
    replace(source, target)
os.replace = interrupted
"""

AT_CPYTHON = """
import os, signal
from fleet.engines import cpython
from fleet.core.processes import start
def began(command, **options):
    child = start(command, **options)
    os.kill(os.getpid(), signal.{name})
    return child
cpython.start = began
"""


def running(word: str) -> list[str]:
    """Processes with `word` in their command line."""
    found: list[str] = []
    for p in Path("/proc").glob("[0-9]*/cmdline"):
        try:
            text = p.read_bytes().replace(b"\0", b" ").decode(errors="replace")
        except OSError:
            continue
        if word in text:
            found.append(text)
    return found


@endings("SIGTERM")
def test_a_signal_during_the_simulation(report: Path, fleet: Fleet, name: str, tmp_path_factory: pytest.TempPathFactory) -> None:
    before, temporary = tree(report), tmp_path_factory.mktemp("temporary")
    ran = fleet(*RTL, "--report", "r", prelude=AT_RUN.format(name=name), env={"TMPDIR": str(temporary)})
    assert (ran.code, ran.err.splitlines()[-1]) == ENDINGS[name]  # above it, progress of a build that nobody had made before
    pid = int((report.parent / "pid").read_text())
    with pytest.raises(ProcessLookupError):
        os.kill(pid, 0)
    assert list(temporary.iterdir()) == []
    assert tree(report) == before
    whole(report)


@endings("SIGINT", "SIGTERM")
def test_a_signal_during_the_build(dense: Path, fleet: Fleet, name: str) -> None:
    seconds = f"{600 + os.getpid() / 1e7:.7f}{ENDINGS[name][0]}"  # nobody else's
    ran = fleet(*RTL, prelude=AT_BUILD.format(name=name, seconds=seconds), env={"FLEET_CACHE": str(dense / "cache")})
    assert (ran.code, ran.err.strip()) == ENDINGS[name]
    assert [line for line in running(seconds) if line.startswith("sleep")] == []
    # The folder in which it was built is there to go on with; nothing half-built stands under the key itself.
    assert {p.suffix for p in (dense / "cache" / "rtl").iterdir()} == {".lock", ".part"}


@endings("SIGHUP")
def test_a_signal_while_cpython_runs(dense: Path, fleet: Fleet, name: str, tmp_path_factory: pytest.TempPathFactory) -> None:
    temporary = tmp_path_factory.mktemp("temporary")
    prelude = AT_CPYTHON.format(name=name)
    ran = fleet(*MODEL, "--engines", "vm,cpython", "--report", "new", prelude=prelude, env={"TMPDIR": str(temporary)})
    assert (ran.code, ran.err.strip()) == ENDINGS[name]
    assert list(temporary.iterdir()) == []
    assert running(str(temporary)) == []


@endings("SIGINT")
def test_a_signal_during_writing(report: Path, fleet: Fleet, name: str) -> None:
    before = tree(report)
    ran = fleet(*COSIM, "--seed", "1", "--report", "r", prelude=AT_WRITING.format(name=name))
    assert (ran.code, ran.err.strip()) == ENDINGS[name]
    assert tree(report) == before


@endings("SIGTERM")
def test_a_signal_during_renaming(report: Path, fleet: Fleet, name: str) -> None:
    ran = fleet(*COSIM, "--seed", "1", "--report", "r", prelude=AT_RENAMING.format(name=name))
    assert (ran.code, ran.err.strip()) == ENDINGS[name]
    identity = whole(report)["identity"]
    assert isinstance(identity, dict)
    assert identity["seed"] == 1  # all of the new one


@pytest.mark.parametrize(("name", "ends"), [("SIGINT", False), ("SIGTERM", True)])
def test_signals_that_are_ignored_at_the_start(report: Path, fleet: Fleet, name: str, ends: bool) -> None:
    """As nohup (SIGHUP), cron and a background job of a script (SIGINT) start it: those stay ignored, SIGTERM ends it always."""

    def ignored() -> None:
        for number in (signal.SIGINT, signal.SIGHUP, signal.SIGTERM):
            signal.signal(number, signal.SIG_IGN)

    ran = fleet(*COSIM, "--seed", "1", "--report", "r", prelude=AT_WRITING.format(name=name), preexec_fn=ignored)
    assert ran.code == (143 if ends else 0), ran.err
    identity = whole(report)["identity"]
    assert isinstance(identity, dict)
    assert identity["seed"] == (0 if ends else 1)


SLOW_BUILD = """
import os, pathlib, shutil, time
from fleet.engines.rtl_sim import build
def compile(design, folder, plan, tell):
    with open({log!r}, "a") as f:
        f.write("built\\n")
    time.sleep(2)
    (folder / "obj").mkdir()
    shutil.copy({executable!r}, folder / "obj" / "Vtop")
build._compile = compile
"""


def test_two_runs_at_once(dense: Path) -> None:
    """One folder, one simulation that nobody has built yet. The compiler's part is a copy of what it made before."""
    from fleet.engines.rtl_sim.build import build, design_of
    from fleet.isa.registry import find_device

    executable, log = str(build(design_of(*find_device("hbm_small")))), dense / "builds"
    prelude = SLOW_BUILD.format(log=str(log), executable=executable)
    env = environment({"FLEET_CACHE": str(dense / "cache")})
    command = [sys.executable, "-c", prelude + ENTRY, *RTL, "--report", "r", "--seed"]
    both = [
        subprocess.Popen([*command, seed], cwd=dense, env=env, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        for seed in ("1", "2")
    ]
    for process in both:
        out, err = process.communicate(timeout=120)
        assert process.returncode == 0, out + err
        assert "verdict: PASS" in out
    assert log.read_text() == "built\n"
    whole(dense / "r")
