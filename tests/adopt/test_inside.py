"""State inside a design, held to what a job wrote when it commits: from what a run left, without a run."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

pytest.importorskip("pyslang")

from adopted import VAULT, modelled

from fleet.adopt.bench.observe import Observation, read_observation
from fleet.adopt.bench.plan import BenchPlan, make_plan
from fleet.adopt.bench.replay import Outcome, ProtocolViolation
from fleet.adopt.bench.script import read_script
from fleet.adopt.lockstep.account import Claim
from fleet.adopt.lockstep.events import read_events
from fleet.adopt.lockstep.jobs import run_model
from fleet.adopt.lockstep.judge import LockstepOutcome, judge_lockstep
from fleet.adopt.record import ReplayRecord
from fleet.adopt.workspace import AdoptWorkspace, open_workspace
from fleet.errors import ModelError
from fleet.report.run.why import find_failure, page
from fleet.verify.adopted.shrink import kind_of

# Row 0 gets a word, row 1 the sum of row 0 and row 0.
TEST = "".join(
    f'[[step]]\nwrite = "apb"\nregister = "{register}"\ndata = {data}\n'
    for register, data in (("to", 0), ("fill", 0x0201), ("to", 1), ("go", 1))
)
RESET = "".join(f"T|{n}|00\n" for n in range(128)) + "B|0|0\nQ|2|4|0\nR|0|2|0|4\n"
FILLED = "B|1|10\nR|1|6|0|12\nB|2|12\nR|2|7|0|14\n"
STARTED = "B|3|14\nR|3|8|0|16\nB|4|16\nR|4|9|0|18\n"
# Row r lies in bank r % 2, each bank has 4 lanes, each lane 8 elements: byte 0 of row 1 is element 32, byte 1 element 40. Behind
# the 64 elements come those of their checks.
ROW0, FIRST, SECOND = "T|0|01\nT|8|02\nT|64|1\nT|72|2\n", "T|32|02\nT|96|2\n", "T|40|04\nT|104|4\n"
ROW1 = FIRST + SECOND
DONE = "C|15|30|0|0\nP|15|30\n"
END = "Q|50|100|1\nE|60|end|3|0|0\n"


@pytest.fixture(scope="module")
def work(tmp_path_factory: pytest.TempPathFactory) -> AdoptWorkspace:
    return open_workspace(modelled(tmp_path_factory.mktemp("inside") / "w", VAULT))


def outcome(work: AdoptWorkspace, folder: Path, results: str, *, at_commits: bool = True, steps: str = TEST) -> LockstepOutcome:
    plan: BenchPlan = make_plan(work)
    assert work.observe is not None
    read: Observation = read_observation(work.observe, work, plan)
    observed = replace(read, states=tuple(replace(s, at_commits=at_commits) for s in read.states))
    test = folder / "t.toml"
    test.write_text(steps)
    script = read_script(test, work, plan)
    (folder / "results.txt").write_text(results)
    events = read_events(folder, script, plan, observed)
    return judge_lockstep(plan, observed, run_model(work, plan, script, observed, events.operations, {}), events, {})


def test_what_a_job_wrote_inside_is_there_when_it_commits(work: AdoptWorkspace, tmp_path: Path) -> None:
    found = outcome(work, tmp_path, RESET + FILLED + STARTED + ROW0 + ROW1 + DONE + END)
    assert (found.divergence, found.commits, found.points) == ("", 1, 1)
    assert found.compared == 8 + 128


def test_what_comes_after_the_commit_is_found_at_the_commit_alone(work: AdoptWorkspace, tmp_path: Path) -> None:
    late = RESET + FILLED + STARTED + ROW0 + FIRST + DONE + SECOND + END
    found = outcome(work, tmp_path, late)
    assert "commit 1 (done, cycle 15) of job 1 (write apb go at" in found.divergence
    assert "rows at 0x5 (in ctrl.g_bank[1].g_lane[1].mem): it holds 00, the model 04" in found.divergence
    assert "the model read rows 0x0: 01 02 00 00, rows 0x0: 01 02 00 00; 2 of 8 bytes differ" in found.divergence
    assert outcome(work, tmp_path, late, at_commits=False).divergence == ""


def test_a_commit_at_which_nobody_looked_inside_is_said(work: AdoptWorkspace, tmp_path: Path) -> None:
    found = outcome(work, tmp_path, RESET + FILLED + STARTED + "C|15|30|0|0\n" + ROW0 + ROW1 + END)
    assert found.divergence == ""
    assert "commit done: state inside was not looked at then, it is compared at rest alone" in found.scope


def test_what_a_younger_command_writes_over_is_left_to_the_time_at_rest(work: AdoptWorkspace, tmp_path: Path) -> None:
    refill = "B|5|18\nR|5|10|0|20\n"
    steps = TEST + '[[step]]\nwrite = "apb"\nregister = "fill"\ndata = 7\n'
    found = outcome(work, tmp_path, RESET + FILLED + STARTED + refill + ROW0 + "T|32|07\nT|96|7\n" + DONE + END, steps=steps)
    assert found.divergence == ""


def test_the_account_of_a_difference_says_command_bytes_operands_and_what_a_bench_can_check(
    work: AdoptWorkspace, tmp_path: Path
) -> None:
    found = outcome(work, tmp_path, RESET + FILLED + STARTED + ROW0 + FIRST + DONE + SECOND + END)
    account = dict(found.account)
    assert account["what differs"] == (found.divergence,)
    assert account["command"][0].startswith("write apb go at ")
    assert account["bytes"] == ("rows 0x5: design 00, model 04", "checks 0x5: design 00, model 04")
    assert account["operands"] == ("rows 0x0: 01 02 00 00", "rows 0x0: 01 02 00 00")
    assert found.claim == Claim("bytes", "commit", "0", 0, {(256, 5): 4, (257, 5): 4})


def test_a_stored_replay_that_failed_is_explained(work: AdoptWorkspace, tmp_path: Path) -> None:
    found = outcome(work, tmp_path, RESET + FILLED + STARTED + ROW0 + FIRST + DONE + SECOND + END)
    folder = tmp_path / "w" / "runs" / "t"
    folder.mkdir(parents=True)
    again = ("isa", "replay", "w", "t.toml")
    record = ReplayRecord("fail", "t.toml of vault", again, (found.divergence,), found.account, "/w/wave.fst")
    assert ReplayRecord.load(record.save(folder)) == record
    text = page(find_failure(str(tmp_path / "w"), tmp_path))
    for words in ("failed: t.toml of vault", "command         write apb go at", "bytes           rows 0x5: design 00, model 04",
                  "wave            /w/wave.fst", "fleet isa replay w t.toml"):  # fmt: skip
        assert words in text
    replace(record, verdict="pass").save(folder)
    with pytest.raises(ModelError, match="no comparison failed"):
        find_failure(str(tmp_path / "w"), tmp_path)


def test_a_small_test_fails_in_the_same_way_whatever_its_numbers_are() -> None:
    def kind(line: str, *rules: str) -> tuple[str, ...]:
        violations = tuple(ProtocolViolation(5, "m", rule, "design", 1) for rule in rules)
        return kind_of(Outcome(9, 1, (line,), violations, 1, 0, (), False, Path(), None))

    one = (
        "commit 2 (done, cycle 77) of job 4 (send io at /a/t.toml:9): mem at 0x203: the design wrote 2a (cycle 70), the model 3f; x"
    )
    assert kind(one) == kind(
        one.replace("77", "12").replace("job 4", "job 1").replace("0x203", "0x7").replace("t.toml:9", "t.toml:2")
    )
    assert kind(one) != kind(one.replace("mem at", "rows at"))
    assert kind(one) != kind("job 4 (send io at /a/t.toml:9) never committed: commit done did not come")
    assert kind(one, "rlast is late") != kind(one)
