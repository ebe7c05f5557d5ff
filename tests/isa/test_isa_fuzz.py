"""Random programs: drawn from a seed, resumed where they stopped, replayed by name, and a fault in the hardware is found."""

from __future__ import annotations

import json
import re
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest
from workspaces import Workspace, make_workspace

from fleet.errors import FleetError, ModelError
from fleet.streams.case import StreamCase, StreamOutcome
from fleet.verify.conformance.fuzz import AHEAD, case_name, fuzz, state_file
from fleet.verify.conformance.fuzz_state import Journal, RanProgram, load_state

NAME = "fuzzed_tiny"


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Workspace:
    found = make_workspace(tmp_path_factory.mktemp("fuzz"))
    found.new_set("fuzzed", "--op", "minimum")
    return found


def test_names_are_those_of_the_suite_and_depend_on_the_seed() -> None:
    first = [case_name("hbm_small", 1, n) for n in range(60)]
    assert first == [case_name("hbm_small", 1, n) for n in range(60)]
    assert not set(first) & {case_name("hbm_small", 2, n) for n in range(60)}
    assert {name.split("/")[-2] for name in first} == {"program", "illegal", "random"}


def test_a_run_goes_on_where_it_stopped(made: Workspace) -> None:
    first = made.fleet("isa", "fuzz", "fuzzed", "--seed", "3", "--count", "12", "--jobs", "1")
    assert "PASS 12 programs from 0 on, seed 3: " in first
    second = made.fleet("isa", "fuzz", "fuzzed", "--seed", "3", "--count", "8", "--jobs", "1")
    assert "from program 12 on, 1 at a time" in second
    assert "PASS 8 programs from 12 on, seed 3: " in second
    state = json.loads((made.folder / "reports" / "fuzz" / f"{NAME}-3.json").read_text())
    assert (state["next"], state["programs"], state["done"], state["failures"]) == (20, 20, [], [])
    assert state["executed"] > 100
    assert state["refused"] > 20
    assert "from program 0 on" in made.fleet("isa", "fuzz", "fuzzed", "--seed", "4", "--count", "1")


def _sums(path: Path) -> dict[str, Any]:
    return {k: v for k, v in json.loads(path.read_text()).items() if k != "seconds"}


def test_several_processes_compare_what_one_does(made: Workspace) -> None:
    for jobs in ("1", "3"):
        made.fleet("isa", "fuzz", "fuzzed", "--seed", "5", "--count", "20", "--jobs", jobs, "--report", f"reports/jobs{jobs}")
    one, three = (_sums(made.folder / f"reports/jobs{n}" / f"{NAME}-5.json") for n in "13")
    assert one["programs"] == 20
    assert one == three


def test_as_many_instructions_as_asked_for(made: Workspace) -> None:
    out = made.fleet("isa", "fuzz", "fuzzed", "--seed", "6", "--instructions", "60", "--jobs", "1")
    found = re.search(r"PASS (\d+) programs from 0 on, seed 6: (\d+) instructions executed, (\d+) refused", out)
    assert found is not None
    assert 60 <= int(found[2]) + int(found[3]) < 200


def test_what_is_counted_has_no_time_limit_of_its_own(made: Workspace, monkeypatch: pytest.MonkeyPatch) -> None:
    from fleet.cli.sets import fuzz as isa_fuzz

    limits: list[float] = []
    monkeypatch.setattr("fleet.verify.conformance.fuzz.fuzz", lambda state, folder, *, seconds, **_: limits.append(seconds))
    for count, instructions, seconds in ((None, None, None), (5, None, None), (None, 5, None), (5, 5, 9.0)):
        with pytest.raises(FleetError, match="no program was run"):
            isa_fuzz.run_fuzz("vgemm_small", None, 0, seconds, count, instructions, 1, made.folder / "limits")
    assert limits == [60, float("inf"), float("inf"), 9]


def test_a_limit_that_ends_a_run_is_told_in_the_last_line(made: Workspace) -> None:
    by_device = made.fleet("isa", "fuzz", NAME, "--seed", "8", "--budget", "0.3", "--instructions", "1000000", "--jobs", "1")
    assert f"fuzzed on {NAME}, seed 8: " in by_device
    assert re.search(r"ENDED EARLY, by --budget 0.3s, after [0-9,]+ of 1,000,000 instructions$", by_device.strip())
    enough = made.fleet("isa", "fuzz", NAME, "--seed", "8", "--budget", "1000", "--count", "2", "--jobs", "1")
    assert "PASS 2 programs" in enough
    assert "EARLY" not in enough
    assert "EARLY" not in made.fleet("isa", "fuzz", NAME, "--seed", "8", "--budget", "0.1", "--jobs", "1")


def test_a_killed_run_loses_what_was_under_way_at_most(made: Workspace) -> None:
    """SIGKILL, while two processes work: their simulations end too, what was known stays known, nothing is counted twice."""
    folder = made.folder / "reports" / "killed"
    command = ["isa", "fuzz", "fuzzed", "--seed", "8", "--budget", "600", "--jobs", "2", "--report", str(folder)]
    process = made.start(*command)
    journal = folder / f"{NAME}-8.journal"
    deadline = time.monotonic() + 120
    while not journal.exists() or len(journal.read_text().splitlines()) < 12:
        assert process.poll() is None, process.communicate()
        assert time.monotonic() < deadline
        time.sleep(0.01)
    process.kill()
    process.wait()
    lines = journal.read_text().splitlines()
    known = [json.loads(line)["n"] for line in lines[1:]]
    stored = json.loads((folder / f"{NAME}-8.json").read_text())
    first = set(range(stored["next"])) | set(stored["done"]) | set(known)
    assert len(first) >= 11
    assert len(set(range(max(first) + 1)) - first) <= 2, "two were under way"
    with journal.open("a") as f:
        f.write('{"n": 7')  # torn by the kill
    out = made.fleet("isa", "fuzz", "fuzzed", "--seed", "8", "--count", "4", "--jobs", "2", "--report", str(folder))
    assert "PASS 4 programs" in out
    after = json.loads((folder / f"{NAME}-8.json").read_text())
    assert after["programs"] == len(first) + 4
    made.fleet("isa", "fuzz", "fuzzed", "--seed", "8", "--count", str(after["programs"]), "--report", "reports/straight")
    straight, resumed = _sums(made.folder / "reports/straight" / f"{NAME}-8.json"), _sums(folder / f"{NAME}-8.json")
    assert not resumed["done"], "the gap was filled first"
    assert straight == resumed


def test_two_runs_do_not_share_a_state(tmp_path: Path) -> None:
    path = state_file(tmp_path, "hbm_small", 1)
    with (
        Journal(load_state(path, "hbm_small", 1), path) as journal,
        pytest.raises(FleetError, match="another run of the same seed is under way"),
    ):
        Journal(load_state(path, "hbm_small", 1), path)
    journal = Journal(load_state(path, "hbm_small", 1), path)
    journal.add(RanProgram(1, 3, 1, 10, failure="1: x"))
    journal.add(RanProgram(0, 2, 0, 5, failure="0: y"))
    journal.add(RanProgram(0, 2, 0, 5))
    again = load_state(path, "hbm_small", 1)
    assert (again.next, again.done, again.programs, again.executed, again.refused) == (2, [], 2, 5, 1)
    assert again.failures == ["0: y", "1: x"]
    path.with_suffix(".journal").write_text("another description\n{}\n")
    assert load_state(path, "hbm_small", 1).programs == 0
    path.with_suffix(".journal").write_text(again.description_hash + "\n{}\n")
    with pytest.raises(ModelError, match=r"hbm_small-1.journal:2: no line of a fuzz run's journal"):
        load_state(path, "hbm_small", 1)


class _Scripted:
    """Notes in which order it was asked and told."""

    def __init__(self) -> None:
        self.log: list[str] = []

    def choose(self, number: int) -> str:
        self.log.append(f"choose {number}")
        return f"vgemm_small/program/{1000 + number + sum(e.startswith('met') for e in self.log)}"

    def met(self, case: StreamCase, outcomes: Sequence[StreamOutcome]) -> None:
        assert all(o.passed for o in outcomes)
        self.log.append(f"met {case.name}")


def test_a_chooser_is_asked_and_told_the_same_however_many_run_at_once(tmp_path: Path) -> None:
    logs: list[list[str]] = []
    for jobs in (1, 2):
        chooser, folder = _Scripted(), tmp_path / str(jobs)
        state = load_state(state_file(folder, "vgemm_small", 1), "vgemm_small", 1)
        fuzz(state, folder, seconds=300, count=AHEAD + 6, jobs=jobs, chooser=chooser)
        assert (state.programs, state.failures) == (AHEAD + 6, [])
        logs.append(chooser.log)
    assert logs[0] == logs[1]
    assert logs[0][: AHEAD + 3] == [
        *(f"choose {n}" for n in range(AHEAD)), "met vgemm_small/program/1000", f"choose {AHEAD}", "met vgemm_small/program/1001"
    ]  # fmt: skip
    assert sum(e.startswith("met") for e in logs[0]) == AHEAD + 6


def test_a_state_of_another_description_is_kept_and_the_run_begins_again(made: Workspace) -> None:
    path = made.folder / f"reports/old/{NAME}-0.json"
    path.parent.mkdir(parents=True)
    path.write_text(json.dumps({"form": 3, "device": NAME, "seed": 0, "description_hash": "0" * 64}))
    out = made.fleet("isa", "fuzz", NAME, "--count", "1", "--jobs", "1", "--report", "reports/old")
    said = (
        f"reports/old/{NAME}-0.json is of another description of {NAME}: it is kept as {NAME}-0.json.0000000000000000, and this run"
    )
    assert said in out
    assert "PASS 1 programs from 0 on" in out
    assert path.with_name(f"{NAME}-0.json.0000000000000000").exists()
    path.write_text("[]")
    assert "no state of a fuzz run" in made.fleet("isa", "fuzz", NAME, "--report", "reports/old", code=2)


def test_no_time_is_no_pass(made: Workspace) -> None:
    assert "nan is not a duration" in made.fleet("isa", "fuzz", "fuzzed", "--seed", "9", "--budget", "nan", code=2)
    assert "no program was run" in made.fleet("isa", "fuzz", "fuzzed", "--seed", "9", "--budget", "1e-9", code=1)


def test_a_fault_in_the_hardware_is_found_stored_and_replayed(tmp_path: Path) -> None:
    faulty = make_workspace(tmp_path)
    home = faulty.new_set("faulty", "--op", "minimum")
    lanes = home / "faulty" / "rtl" / "faulty_lanes.sv"
    text = lanes.read_text()
    assert text.count("$signed(a_i[32*i +: 32])") == 1
    lanes.write_text(text.replace("$signed(a_i[32*i +: 32]) < $signed(b_i[32*i +: 32])", "a_i[32*i +: 32] < b_i[32*i +: 32]"))
    out = faulty.fleet("isa", "fuzz", "faulty", "--count", "6", "--jobs", "2", code=1)
    assert re.search(r"FAIL \d+ programs from 0 on", out)
    assert "commits differ; first: commit " in out
    stored = re.findall(r"fleet stream run (\S+stream\.json)", out)
    assert stored
    assert "FAIL" in faulty.fleet("stream", "run", stored[0], code=1)
    name = re.findall(r"^\d+: (\S+) ", out, re.MULTILINE)[0]
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
