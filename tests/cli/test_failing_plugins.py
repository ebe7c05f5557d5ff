"""No exception of a plug-in decides the exit code: it is named, and what the others computed is kept."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest
from command_line import ROOT, Fleet

COSIM = ("cosim", "model.py:forward", "--weights", "w.npz", "--input", "x.npz")
Install = Callable[[str, str, str], dict[str, str]]
RAISES = ("raise SystemExit(0)", "raise KeyboardInterrupt")
"""Others are what everybody catches."""

AT_RUN = """
class Leaves:
    name, target = "leaves", "host"
    def available(self):
        return None
    def run(self, program, inputs, options):
        {code}
ENGINE = Leaves()
"""
AT_PASS = """
def PASS(options):
    {code}
"""


@pytest.fixture
def plugin(dense: Path) -> Install:
    """Installs a distribution `somebodys` with one entry point; returns the environment in which it is found."""

    def install(group: str, point: str, source: str) -> dict[str, str]:
        folder = dense / "site"
        shutil.rmtree(folder, ignore_errors=True)
        info = folder / "somebodys-1.0.dist-info"
        info.mkdir(parents=True)
        (info / "METADATA").write_text("Metadata-Version: 2.1\nName: somebodys\nVersion: 1.0\n")
        (info / "entry_points.txt").write_text(f"[{group}]\n{point}\n")
        (folder / "leaving.py").write_text(source)
        return {"PYTHONPATH": f"{ROOT}:{folder}", "PYTHONDONTWRITEBYTECODE": "1"}

    return install


@pytest.mark.parametrize("code", RAISES)
def test_an_engine_that_leaves_at_import(fleet: Fleet, plugin: Install, code: str) -> None:
    ran = fleet(*COSIM, "--engines", "vm,leaves", env=plugin("fleet.engines", "leaves = leaving:ENGINE", code))
    assert ran.code == 2, (ran.out, ran.err)
    (line,) = ran.err.splitlines()
    assert "engine leaves (leaving:ENGINE, of somebodys) cannot be loaded: " in line
    assert "SystemExit: 0" in line or "KeyboardInterrupt" in line


@pytest.mark.parametrize("code", RAISES)
def test_an_engine_that_leaves_while_it_runs(fleet: Fleet, plugin: Install, code: str, dense: Path) -> None:
    env = plugin("fleet.engines", "leaves = leaving:ENGINE", AT_RUN.format(code=code))
    ran = fleet(*COSIM, "--engines", "vm,cpython,leaves", "--report", "r", env=env, plugin_fails=True)
    assert ran.code == 3, (ran.out, ran.err)
    result = json.loads((dense / "r" / "result.json").read_text())
    engines = {e["name"]: e for e in result["engines"]}
    assert [engines[name]["status"] for name in ("vm", "cpython", "leaves")] == ["ran", "ran", "failed"]
    assert "a bug of fleet.engines leaves (leaving:ENGINE, of somebodys): " in engines["leaves"]["error"]
    assert [c["verdict"] for c in result["comparisons"]] == ["pass"]


def test_a_pass_that_leaves(fleet: Fleet, plugin: Install) -> None:
    asked = ("bisect-pass", "model.py:forward", "--weights", "w.npz", "--input", "x.npz", "--passes", "leaves")
    ran = fleet(*asked, env=plugin("fleet.passes", "leaves = leaving:PASS", RAISES[0]))
    assert (ran.code, len(ran.err.splitlines())) == (2, 1), ran.err
    assert "pass leaves (leaving:PASS, of somebodys) cannot be loaded: SystemExit: 0" in ran.err
    ran = fleet(*asked, env=plugin("fleet.passes", "leaves = leaving:PASS", AT_PASS.format(code=RAISES[1])), plugin_fails=True)
    assert ran.code == 3, ran.err
    assert "a bug of fleet.passes leaves (leaving:PASS, of somebodys): KeyboardInterrupt" in ran.err


def test_one_that_nobody_asked_for(fleet: Fleet, plugin: Install) -> None:
    env = plugin("fleet.engines", "leaves = leaving:ENGINE", RAISES[0])
    assert fleet(*COSIM, "--engines", "vm,cpython", env=env).code == 0
    ran = fleet("doctor", env=env)
    assert ran.code == 2
    assert "fleet.engines leaves (leaving:ENGINE, of somebodys) cannot be loaded: SystemExit: 0" in ran.out


def test_an_instruction_set_that_nobody_asked_for(fleet: Fleet, plugin: Install) -> None:
    """It is named once where devices are looked up, and where it is listed there is no second line."""
    env = plugin("fleet.instruction_sets", "leaves = leaving:SET", RAISES[1])
    asked = ("compile", "--emit", "accel-regs", "model.py:forward", "--weights", "w.npz", "--device", "hbm_small")
    ran = fleet(*asked, env=env)
    assert ran.code == 0, ran.err
    (line,) = [line for line in ran.err.splitlines() if "leaves" in line]
    assert line.startswith("fleet: instruction set leaves is left out: "), ran.err
    assert "KeyboardInterrupt" in line
    for command, exit_code in (("devices", 0), ("doctor", 2)):
        ran = fleet(command, env=env)
        assert (ran.code, ran.err) == (exit_code, "")
        assert "leaves" in ran.out
        assert "KeyboardInterrupt" in ran.out
