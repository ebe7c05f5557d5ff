"""A run held to a functional model: from what a run left, without a run."""

from __future__ import annotations

import subprocess
from dataclasses import dataclass, replace
from pathlib import Path

import pytest

pytest.importorskip("pyslang")

from adopted import PAIRER, modelled

from fleet.adopt.bench.observe import Observation, read_observation
from fleet.adopt.bench.plan import BenchPlan, make_plan
from fleet.adopt.bench.script import ReplayScript, read_script
from fleet.adopt.lockstep.events import read_events
from fleet.adopt.lockstep.jobs import load_model, run_model
from fleet.adopt.lockstep.judge import LockstepOutcome, judge_lockstep
from fleet.adopt.workspace import AdoptWorkspace, open_workspace
from fleet.errors import ModelError
from fleet.sdk.functional import INCLUDE

# Unit 0 doubles the word at 0x100 into 0x200, unit 1 squares the one at 0x104 into TO.
TEST = """
[[step]]
send = "io"
data = [{cmd_funct = 0, cmd_rd = 3, cmd_rs1 = 0x100, cmd_rs2 = 0x200}, {cmd_funct = 1, cmd_rd = 4, cmd_rs1 = 0x104, cmd_rs2 = TO}]
"""
BEFORE = {(0, 0x100): 5, (0, 0x104): 6}
RESET, FIRST, SECOND = "B|0|0\nQ|2|4|0\nR|0|2|0|4\n", "B|1|10\nR|1|6|0|12|12\n", "B|2|12\nR|2|7|0|14|14\n"


def word(time: int, address: int, value: int, token: int = 0) -> str:
    """Lines of a word of 4 bytes that the design writes."""
    data = value.to_bytes(4, "little")
    return "".join(f"W|{time // 2}|{time}|00|{address + n:014x}|{b:02x}|{token}\n" for n, b in enumerate(data))


def answer(time: int, tag: int, value: int) -> str:
    """A response."""
    return f"S|{time // 2}|io|{tag << 64 | value:x}|{time}\n"


GOOD = word(20, 0x204, 36) + answer(22, 4, 36) + word(24, 0x200, 10) + answer(26, 3, 10)
END = "Q|50|100|1\nE|60|end|3|0|0\n"


@dataclass(frozen=True)
class Given:
    """A workspace."""

    work: AdoptWorkspace
    plan: BenchPlan
    observed: Observation

    def script(self, to: int) -> ReplayScript:
        path = self.work.folder / "t.toml"
        path.write_text(TEST.replace("TO", hex(to)))
        return read_script(path, self.work, self.plan)

    def outcome(self, folder: Path, results: str, to: int = 0x204) -> LockstepOutcome:
        (folder / "results.txt").write_text(RESET + FIRST + SECOND + results)
        script = self.script(to)
        events = read_events(folder, script, self.plan, self.observed)
        run = run_model(self.work, self.plan, script, self.observed, events.operations, BEFORE)
        assert run.expected == []
        return judge_lockstep(self.plan, self.observed, run, events, BEFORE)


@pytest.fixture(scope="module")
def given(tmp_path_factory: pytest.TempPathFactory) -> Given:
    work = open_workspace(modelled(tmp_path_factory.mktemp("lockstep") / "w", PAIRER))
    plan = make_plan(work)
    assert work.observe is not None
    return Given(work, plan, read_observation(work.observe, work, plan))


def test_jobs_that_commit_out_of_order_agree(given: Given, tmp_path: Path) -> None:
    found = given.outcome(tmp_path, GOOD + END)
    scope = ("only what leaves through ports is compared, nothing inside the design",)
    assert found == LockstepOutcome(2, 2, 1, 18, "", scope, cycles=((22 - 14) // 2, (26 - 12) // 2))


def test_events_that_no_job_names_and_words_that_no_job_gives_are_counted(given: Given, tmp_path: Path) -> None:
    spare = replace(given.observed.commits[0], name="spare")
    observed = replace(given.observed, commits=(*given.observed.commits, spare))
    extra = "".join(f"C|{time // 2}|{time}|1|0\n" for time in (28, 30, 32))
    model = observed.model
    assert model is not None
    path = tmp_path / "model.py"
    path.write_text(model.read_text().replace("context.give(", "0 and context.give("))
    found = Given(given.work, given.plan, replace(observed, model=path)).outcome(tmp_path, GOOD + extra + END)
    assert found.divergence == ""
    assert "commit spare: 5 events of the design not compared, no job names it" in found.scope  # three, and the two answers
    assert "io: 2 words of the design not compared, the model gives none" in found.scope
    assert found.uncompared == 7


@pytest.mark.parametrize(
    ("results", "message"),
    [
        (
            answer(18, 4, 36) + GOOD.replace(answer(22, 4, 36), "") + END,
            "commit 1 (answer with tag 4, cycle 9) of job 2 (send io at {test}:3): mem[0]/mem[1] at 0x204: the design has "
            "written nothing there yet (00 00 00 00), the model 24 00 00 00 (it writes 24 at cycle 10, after the commit); "
            "the model read mem[0]/mem[1] 0x104: 06 00 00 00; 4 of 4 bytes differ",
        ),
        (
            GOOD.replace(word(24, 0x200, 10), word(24, 0x200, 266)) + END,
            "at 0x201: the design wrote 01 (cycle 12), the model 00; the model read mem[0]/mem[1] 0x100: 05 00 00 00; "
            "1 of 4 bytes differ",
        ),
        (
            GOOD.replace(answer(26, 3, 10), answer(26, 4, 10)) + END,
            "commit answer with tag 4 at cycle 13, which no job waits for; under way: job 1",
        ),
        (GOOD.replace(answer(26, 3, 10), answer(26, 3, 11)) + END, "io word 1 (cycle 13) of job 1 (send io at {test}:3): "),
        (GOOD.replace(answer(26, 3, 10), "") + END, "job 1 (send io at {test}:3) never committed: commit answer did not come"),
        (GOOD + answer(30, 3, 10) + END, "which no job waits for; under way: no job"),
        (
            word(16, 0x300, 7) + GOOD + END,
            "at rest (cycle 50): mem[0]/mem[1] at 0x300: the design wrote 07 (cycle 8, under way: job 1 (send io at {test}:3); "
            "job 2 (send io at {test}:3)), no job writes there, it was 00",
        ),
        (
            GOOD + word(30, 0x200, 9) + END,
            "at 0x200: the design wrote 09 (cycle 15, no job under way), the model 0a, last by job 1",
        ),
        (
            GOOD.replace("|24|00|00000000000200|0a|0", "|24|00|00000000000200|0a|8") + END,
            "at 0x200: the design has written nothing there yet",
        ),
        (
            GOOD.replace("|24|00|00000000000200|0a|0", "|24|00|00000000000200|0a|8") + "A|14|28|8\n" + END,
            "it writes 0a at cycle 14, after",
        ),
    ],
)
def test_the_first_difference_is_named(given: Given, tmp_path: Path, results: str, message: str) -> None:
    found = given.outcome(tmp_path, results)
    assert message.replace("{test}", str(given.work.folder / "t.toml")) in found.divergence


def test_a_write_whose_response_came_before_the_commit_counts(given: Given, tmp_path: Path) -> None:
    results = GOOD.replace("|24|00|00000000000200|0a|0", "|24|00|00000000000200|0a|8").replace("S|13|", "A|13|26|8\nS|13|")
    assert given.outcome(tmp_path, results + END).divergence == ""


@pytest.mark.parametrize(
    ("writes", "said"),
    [
        (word(20, 0x200, 10) + word(22, 0x200, 36) + answer(24, 3, 10) + answer(26, 4, 36), ""),
        (word(22, 0x200, 36) + answer(24, 3, 10) + answer(26, 4, 36), "commit 1 (answer with tag 3"),
        (word(20, 0x200, 36) + answer(22, 4, 36) + word(24, 0x200, 10) + answer(26, 3, 10), "last by job 2"),
    ],
    ids=["the younger one has written too", "the older one never wrote", "the older one wrote last"],
)
def test_two_jobs_that_write_the_same_place(given: Given, tmp_path: Path, writes: str, said: str) -> None:
    found = given.outcome(tmp_path, writes + END, to=0x200)
    assert said in found.divergence if said else found.divergence == ""


MODEL = "from fleet.sdk.functional import *\nclass M(FunctionalModel):\n    def command(self, command, context):\n        {}\n"


@pytest.mark.parametrize(
    ("body", "message"),
    [
        ("context.job('no', tag=1)", "send io: there is no commit no"),
        ("context.job()", "send io: commit answer has tags, the job has tag None"),
        ("context.job(tag=1, events=0)", "a job takes at least one event, not 0"),
        ("context.job(tag=1, after=[7])", "there is no job 7 to come after"),
        ("context.read('men', 0, 1)", "there is no memory men"),
        ("context.give('mem', 1)", "mem gives no words"),
        ("context.give('io', resp=1)", "io has no signal resp"),
        ("context.give('io', resp_rd=99)", "0x63 does not fit into resp_rd, which has 5 bits"),
        ("context.give('io')", "a word is its value, or its signals"),
        ("context.expect(1)", "a send reads nothing"),
        ("1 / 0", "model.py:4: the model raises in send io ("),
    ],
)
def test_a_mistake_of_the_model_is_named(given: Given, tmp_path: Path, body: str, message: str) -> None:
    path = tmp_path / "model.py"
    path.write_text(MODEL.format(body))
    observed = Observation(path, path, given.observed.commits, (), given.observed.quiescent)
    (tmp_path / "results.txt").write_text(RESET + FIRST)
    script = given.script(0x204)
    events = read_events(tmp_path, script, given.plan, observed)
    with pytest.raises(ModelError) as caught:
        run_model(given.work, given.plan, script, observed, events.operations, {})
    assert message in str(caught.value)


LIBRARY = """
#include "fleet_functional.h"
#include <cstring>
extern "C" void *fleet_model_new(const fleet_parameter *parameters, uint32_t count) { return new int(0); }
extern "C" void fleet_model_delete(void *model) { delete static_cast<int *>(model); }
extern "C" void fleet_model_command(void *, const fleet_command *c, const fleet_context *context) {
  if (strcmp(c->kind, "send") != 0) return;
  uint64_t f[4];  // cmd_rs2, cmd_rs1, cmd_rd, cmd_funct in any order
  const char *names[] = {"cmd_funct", "cmd_rd", "cmd_rs1", "cmd_rs2"};
  for (uint32_t i = 0; i < c->field_count; i++)
    for (int n = 0; n < 4; n++)
      if (strcmp(c->fields[i].name, names[n]) == 0) f[n] = c->fields[i].value;
  fleet_job job = {"answer", 1, f[1], 1, f[0] ? "unit 1" : "unit 0", nullptr, 0};
  context->job(&job);
  uint32_t word;
  context->read("mem", f[2], reinterpret_cast<uint8_t *>(&word), 4);
  word = f[0] ? word * word : FACTOR * word;
  context->write("MEMORY", f[3], reinterpret_cast<uint8_t *>(&word), 4);
  fleet_field given[] = {{"resp_rd", f[1], nullptr, 0}, {"resp_data", word, nullptr, 0}};
  context->give("io", given, 2);
}
"""


def native(given: Given, folder: Path, *, factor: int = 2, memory: str = "mem") -> Given:
    """With a model in C++ in place of that in Python."""
    (folder / "model.cpp").write_text(LIBRARY.replace("FACTOR", str(factor)).replace("MEMORY", memory))
    command = ["g++", "-shared", "-fPIC", f"-I{INCLUDE}", "-o", str(folder / "model.so"), str(folder / "model.cpp")]
    subprocess.run(command, check=True)
    return replace(given, observed=replace(given.observed, model=folder / "model.so"))


def test_a_model_in_a_shared_library_is_held_to_the_design_as_well(given: Given, tmp_path: Path) -> None:
    assert native(given, tmp_path).outcome(tmp_path, GOOD + END) == given.outcome(tmp_path, GOOD + END)
    (tmp_path / "other").mkdir()
    other = native(given, tmp_path / "other", factor=3)
    assert "0x3000000000000000a, the model 0x3000000000000000f; the model read" in other.outcome(tmp_path, GOOD + END).divergence


def test_a_mistake_of_a_library_is_named(given: Given, tmp_path: Path) -> None:
    with pytest.raises(ModelError, match="there is no memory men"):
        native(given, tmp_path, memory="men").outcome(tmp_path, GOOD + END)
    (tmp_path / "no.so").write_text("no library")
    with pytest.raises(ModelError, match="cannot be used as a functional model"):
        load_model(tmp_path / "no.so", {})


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("raise ValueError('x')", "cannot be run: ValueError: x"),
        ("from fleet.sdk.functional import FunctionalModel\n", "has 0 functional models, expected one"),
        (MODEL.format("pass") + MODEL.format("pass").replace("M(", "N("), "has 2 functional models"),
        (MODEL.format("pass") + "    def __init__(self): pass\n", "M cannot be made: TypeError"),
    ],
)
def test_a_file_without_a_model_is_refused(tmp_path: Path, text: str, message: str) -> None:
    path = tmp_path / "model.py"
    path.write_text(text)
    with pytest.raises(ModelError) as caught:
        load_model(path, {})
    assert message in str(caught.value)
