"""A result holds its request as data: `fleet report --rerun` makes the run again from it."""

from __future__ import annotations

import json
from pathlib import Path

from command_line import DENSE, Fleet

from fleet.adopt.record import ReplayRecord
from fleet.cosim.result import CosimResult

DOTTER = Path(__file__).parents[1] / "fixtures" / "adopted" / "obi_rocc" / "dotter.f"


def test_a_run_is_made_again(fleet: Fleet, tmp_path: Path) -> None:
    """Also one whose arguments a shell would have to quote."""
    model = tmp_path / "my model.py"
    model.write_text(DENSE)
    first = fleet(
        "cosim", f"{model}:forward", "--engines", "vm,cpython", "--batch", "3", "--seed", "7", "--report", str(tmp_path / "r")
    )
    assert first.code == 0, first.err
    before = CosimResult.load(tmp_path / "r")
    assert before.identity.request is not None
    assert before.identity.request.arguments[:2] == ("cosim", f"{model}:forward")
    assert f"'{model}:forward'" in before.identity.command
    model.write_text(DENSE.replace("x @ w + b", "x @ w - b"))  # what a run of now computes, and no stored result holds
    again = fleet("report", str(tmp_path / "r"), "--rerun", "--json")
    assert again.code == 0, again.err
    after = CosimResult.load(tmp_path / "r")
    assert after.identity.program_hash != before.identity.program_hash
    told = json.loads(again.out)
    assert told["verdict"] == after.verdict
    assert {name for name, engine in told["engines"].items() if engine["status"] == "ran"} == {"vm", "cpython"}
    assert after.identity.inputs_hash == before.identity.inputs_hash
    assert after.identity.request is not None
    assert after.identity.request.arguments.count("--report") == 1
    assert after.data.samples == 3
    assert after.identity.date >= before.identity.date


def test_a_result_without_a_request(fleet: Fleet, tmp_path: Path) -> None:
    """One that an older fleet stored can be read, and says that it cannot be made again."""
    model = tmp_path / "model.py"
    model.write_text(DENSE)
    assert fleet("cosim", f"{model}:forward", "--engines", "vm,cpython", "--report", str(tmp_path / "r")).code == 0
    stored = tmp_path / "r" / "result.json"
    table = json.loads(stored.read_text())
    del table["identity"]["request"]
    stored.write_text(json.dumps(table))
    pages = fleet("report", str(tmp_path / "r"), "--json")
    assert pages.code == 0, pages.err
    assert json.loads(pages.out) == {"report": str(tmp_path / "r" / "index.html")}
    again = fleet("report", str(tmp_path / "r"), "--rerun")
    assert again.code == 2
    assert "does not say how it was made" in again.line


def test_a_stored_stream_is_run_again_under_its_own_setting(fleet: Fleet) -> None:
    stored = Path(__file__).parents[2] / "sim" / "bundles" / "overlapping-output-rows"
    again = fleet("report", str(stored), "--rerun")
    assert (again.code, "PASS" in again.out) == (0, True), again.out
    assert fleet("report", str(stored / "stream.json"), "--rerun").out == again.out
    page = fleet("report", str(stored))
    assert page.code == 2
    assert "stream.json: a stored stream has no page" in page.line


def test_a_replay_of_an_adopted_design_is_played_again(fleet: Fleet, tmp_path: Path) -> None:
    """Also in a workspace whose path a shell would have to quote."""
    folder = tmp_path / "my design"
    adopted = fleet("isa", "adopt", str(DOTTER), "--top", "dotter", "-o", str(folder))
    assert (adopted.code, (folder / "smoke.toml").exists()) == (4, True), "not every port is mapped"
    first = fleet("isa", "replay", str(folder))
    stored = folder / "runs" / "smoke"
    assert ReplayRecord.load(stored / "replay.json").arguments == ("isa", "replay", str(folder), str(folder / "smoke.toml"))
    again = fleet("report", str(stored), "--rerun")
    assert (again.code, again.out.splitlines()[-1]) == (first.code, first.out.splitlines()[-1])
    page = fleet("report", str(stored))
    assert page.code == 2
    assert "replay.json: a stored replay has no page" in page.line
