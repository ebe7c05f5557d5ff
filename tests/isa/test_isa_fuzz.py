"""Random programs: drawn from a seed, resumed where they stopped, replayed by name, and a fault in the hardware is found."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest
from workspaces import Workspace, make_workspace

from fleet.cosim.streams.fuzz import case_name

NAME = "fuzzed_tiny"


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Workspace:
    found = make_workspace(tmp_path_factory.mktemp("fuzz"))
    found.fleet("isa", "new", "fuzzed", "--op", "minimum")
    found.install(found.folder / "sets" / "fuzzed")
    return found


def test_names_are_those_of_the_suite_and_depend_on_the_seed() -> None:
    first = [case_name("hbm_small", 1, n) for n in range(60)]
    assert first == [case_name("hbm_small", 1, n) for n in range(60)]
    assert not set(first) & {case_name("hbm_small", 2, n) for n in range(60)}
    assert {name.split("/")[-2] for name in first} == {"program", "illegal", "random"}


def test_a_run_goes_on_where_it_stopped(made: Workspace) -> None:
    first = made.fleet("isa", "fuzz", "fuzzed", "--seed", "3", "--count", "12")
    assert "PASS programs 0 to 11: " in first
    second = made.fleet("isa", "fuzz", "fuzzed", "--seed", "3", "--count", "8")
    assert "from program 12 on" in second
    assert "PASS programs 12 to 19: " in second
    state = json.loads((made.folder / "reports" / "fuzz" / f"{NAME}-3.json").read_text())
    assert (state["next"], state["programs"], state["failures"]) == (20, 20, [])
    assert state["executed"] > 20
    assert state["refused"] > 20
    assert "from program 0 on" in made.fleet("isa", "fuzz", "fuzzed", "--seed", "4", "--count", "1")


def test_a_state_of_another_description_is_refused_with_its_line(made: Workspace) -> None:
    path = made.folder / "reports" / "old" / f"{NAME}-0.json"
    path.parent.mkdir()
    path.write_text(json.dumps({"form": 1, "device": NAME, "seed": 0, "description_hash": "0" * 64}))
    out = made.fleet("isa", "fuzz", "fuzzed", "--report", "reports/old", code=2)
    assert f"reports/old/{NAME}-0.json:1: made for description 0000000000000000, {NAME} has " in out
    path.write_text("[]")
    assert "no state of a fuzz run" in made.fleet("isa", "fuzz", "fuzzed", "--report", "reports/old", code=2)


def test_no_time_is_no_pass(made: Workspace) -> None:
    assert "no program was run" in made.fleet("isa", "fuzz", "fuzzed", "--seed", "9", "--seconds", "1e-9", code=1)


def test_a_fault_in_the_hardware_is_found_stored_and_replayed(tmp_path: Path) -> None:
    faulty = make_workspace(tmp_path)
    faulty.fleet("isa", "new", "faulty", "--op", "minimum")
    home = faulty.folder / "sets" / "faulty"
    faulty.install(home)
    lanes = home / "faulty" / "rtl" / "faulty_lanes.sv"
    text = lanes.read_text()
    assert text.count("$signed(a_i[32*i +: 32])") == 1
    lanes.write_text(text.replace("$signed(a_i[32*i +: 32]) < $signed(b_i[32*i +: 32])", "a_i[32*i +: 32] < b_i[32*i +: 32]"))
    out = faulty.fleet("isa", "fuzz", "faulty", "--count", "6", code=1)
    assert "FAIL programs 0 to " in out
    assert "commits differ; first: commit " in out
    stored = re.findall(r"fleet stream run (\S+stream\.json)", out)
    assert stored
    assert "FAIL" in faulty.fleet("stream", "run", stored[0], code=1)
    name = out.splitlines()[1].split(" ")[0]
    assert name.startswith("faulty_tiny/")
    assert "FAIL" in faulty.fleet("stream", "run", name, "--memory", "stall:1", "--memory", "ideal", code=1)


def test_the_manual_of_a_set(made: Workspace) -> None:
    made.fleet("isa", "doc", "fuzzed", "-o", "MANUAL.md")
    text = (made.folder / "MANUAL.md").read_text()
    assert "### vminimum" in text
    assert "current" in made.fleet("isa", "doc", "fuzzed", "-o", "MANUAL.md", "--check")
    (made.folder / "MANUAL.md").write_text(text + "\n")
    assert "is not what the description gives" in made.fleet("isa", "doc", "fuzzed", "-o", "MANUAL.md", "--check", code=1)
    assert made.fleet("isa", "doc", "fuzzed") == text
