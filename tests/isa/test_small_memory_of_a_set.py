"""A new set on a device whose memory is too small for most draws: every tool of it ends with a result."""

from __future__ import annotations

import json
import re
from pathlib import Path

from workspaces import Workspace, make_workspace

DEVICE = "mine_small"


def _small(folder: Path, ddr: int) -> Workspace:
    made = make_workspace(folder)
    made.fleet("isa", "new", "mine", "--op", "minimum")
    home = made.folder / "sets" / "mine"
    devices = home / "mine" / "devices"
    text = (devices / "mine_tiny.toml").read_text()
    assert text.count("ddr = 65536\n") == 1
    (devices / f"{DEVICE}.toml").write_text(text.replace("mine_tiny", DEVICE).replace("ddr = 65536\n", f"ddr = {ddr}\n"))
    made.install(home)
    return made


def test_every_tool_ends_with_a_result(tmp_path: Path) -> None:
    made = _small(tmp_path, 2048)
    assert re.search(r"[1-9]\d* cases on iss and rtl, 0 failed", made.fleet("isa", "check", DEVICE))
    fuzzed = made.fleet("isa", "fuzz", DEVICE, "--count", "30", "--seed", "1", "--jobs", "1")
    assert re.search(r"PASS \d+ programs from 0 on", fuzzed)
    steered = made.fleet("isa", "fuzz", DEVICE, "--count", "30", "--seed", "2", "--jobs", "1", "--steer")
    assert re.search(r"PASS \d+ programs from 0 on", steered)
    covered = made.fleet("isa", "coverage", DEVICE, "--budget", "0.05m", "--jobs", "1", "--report", "reports/coverage")
    assert re.search(r"PASS [\d,]+ programs", covered)
    assert json.loads((made.folder / "reports/coverage/summary.json").read_text())["programs"] > 0
    suite = made.pytest("sim/test_conformance.py", "-q")
    assert re.search(r"[1-9]\d* of \d+ cases left out; the first: mine_small/vminimum/directed/1?\d: does not fit", suite)
    lanes = made.folder / "sets/mine/mine/rtl/mine_lanes.sv"
    text = lanes.read_text()
    assert text.count("$signed(a_i[32*i +: 32])") == 1
    lanes.write_text(text.replace("$signed(a_i[32*i +: 32]) < $signed(b_i[32*i +: 32])", "a_i[32*i +: 32] < b_i[32*i +: 32]"))
    failed = made.fleet("isa", "fuzz", DEVICE, "--count", "6", "--seed", "3", "--jobs", "1", code=1)
    stored = re.findall(r"fleet stream run (\S+stream\.json)", failed)[0]
    assert "instructions  32 -> 1\n" in made.fleet("shrink", stored, code=1)


def test_a_program_that_cannot_be_drawn_or_run_is_a_finding(tmp_path: Path) -> None:
    """The source of the set puts an operand behind the end of memory, at times."""
    made = _small(tmp_path, 4096)
    source = made.folder / "sets/mine/mine/conformance.py"
    text = source.read_text()
    assert text.count('at, fresh = place.source("ddr", BEAT * beats)') == 1
    wrong = 'at, fresh = (4096 - BEAT, True) if rng.random() < 0.1 else place.source("ddr", BEAT * beats)'
    source.write_text(text.replace('at, fresh = place.source("ddr", BEAT * beats)', wrong))
    for tool in (("fuzz", "--count", "40", "--jobs", "1"), ("coverage", "--budget", "0.05m", "--jobs", "1")):
        out = made.fleet("isa", tool[0], DEVICE, *tool[1:], code=1)
        assert "FAIL" in out
        assert re.search(r"mine_small/\S+/\d+: .*; fleet stream run mine_small/", out), out
