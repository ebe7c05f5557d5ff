"""Designs that were not written for fleet, held to functional models commit by commit; planted faults are found and named."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

pytest.importorskip("pyslang")

from adopted import COPIER, ENGINE, FIR, GATHER, KERNEL, MESH, NETWORK, PAIRER, RELAY, SCALER, VAULT, modelled
from owner_tests import TESTS, edits

from fleet.adopt.bench.replay import Outcome, replay
from fleet.adopt.workspace import open_workspace
from fleet.errors import ExitCode

pytestmark = pytest.mark.nightly


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> Callable[..., Outcome]:
    """Runs a design's test with a planted fault; changes: (text, text that replaces it) in the model, which needs no build."""
    home = tmp_path_factory.mktemp("modelled")

    def run(files: Path, fault: int = 0, *changes: tuple[str, str]) -> Outcome:
        folder = home / files.stem
        if not folder.exists():
            modelled(folder, files, edits=edits(files))
        text = (files.parent / f"{files.stem}_model.py").read_text()
        for old, new in changes:
            assert old in text
            text = text.replace(old, new)
        (folder / f"{files.stem}_model.py").write_text(text)
        test = folder / "owner.toml"
        test.write_text(TESTS[files].replace("FAULT", str(fault)))
        return replay(open_workspace(folder), test)

    return run


Run = Callable[..., Outcome]


@pytest.mark.parametrize(
    ("files", "jobs", "points", "least"),
    [
        (COPIER, 3, 2, 80),
        (SCALER, 2, 1, 18),
        (PAIRER, 4, 2, 30),
        (VAULT, 5, 6, 150),
        (RELAY, 20, 1, 72),
        (KERNEL, 5, 2, 288),
        (FIR, 8, 1, 8),
        (MESH, 10, 2, 128),
        (ENGINE, 4, 2, 480),
        (NETWORK, 12, 1, 48),
        (GATHER, 69, 1, 8000),
    ],
    ids=lambda v: getattr(v, "stem", ""),
)
def test_a_design_agrees_with_its_model(run: Run, files: Path, jobs: int, points: int, least: int) -> None:
    outcome = run(files)
    assert outcome.differences == ()
    assert outcome.violations == ()
    assert outcome.exit_code is ExitCode.AGREED
    found = outcome.lockstep
    assert found is not None
    assert (found.jobs, found.commits) == (jobs, jobs)
    assert found.points >= points
    assert found.compared >= least


@pytest.mark.parametrize(
    ("files", "fault", "said"),
    [
        (COPIER, 4, ["commit 1 (done, cycle ", "m at 0x2010: the design has written nothing there yet", "after the commit"]),
        (COPIER, 5, ["commit done at cycle ", "which no job waits for; under way: job 3"]),
        (COPIER, 6, ["commit 2 (done, cycle ", "m at 0x2100: the design wrote", "the model read m 0x1020: 09 00 00 00 0a"]),
        (COPIER, 7, ["commit 1 (done, cycle ", "m at 0x2006: the design has written nothing there yet"]),
        (COPIER, 8, ["commit done at cycle ", "which no job waits for"]),
        (GATHER, 1, ["commit 1 (done, cycle ", "m_axi at 0x20"]),
        (GATHER, 2, ["(done, cycle ", "m_axi at 0x", "after the commit"]),
        (GATHER, 3, ["commit 1 (done, cycle ", "m_axi at 0x2005: the design has written nothing there yet"]),
        (GATHER, 4, ["commit 1 (done, cycle ", "m_axi at 0x2000"]),
        (GATHER, 5, ["commit ", "m_axi at 0x"]),
        (SCALER, 3, ["out word 3", "of job 2", "0x1e, the model 0x32"]),
        (PAIRER, 1, ["io word 0", "0x", "the model 0x"]),
        (PAIRER, 2, ["commit 2 (answer with tag 3, cycle ", "mem[0]", "at 0x203: the design has written nothing there yet"]),
        (PAIRER, 3, ["commit 1 (answer with tag 4, cycle ", "at 0x204: the design has written nothing there yet"]),
        (PAIRER, 4, ["at 0x208: the design has written nothing there yet", "with tag 5"]),
        (PAIRER, 5, ["commit answer with tag", "which no job waits for"]),
        (VAULT, 1, ["commit 1 (done, cycle ", "rows at 0x12 (in ctrl.g_bank[0].g_lane[2].mem): it holds", "2 of 8 bytes differ"]),
        (VAULT, 2, ["at rest", "rows at 0x14 (in ctrl.g_bank[1].g_lane[0].mem): aa", "last by write apb fill"]),
        (VAULT, 3, ["job 1 (write apb go at ", "never committed: commit done did not come"]),
        (VAULT, 4, ["commit 2 (done, cycle ", "rows at 0x14", "of job 2"]),
        (RELAY, 6, ["commit 1 (given, cycle ", "mem at 0x403: the design has written nothing there yet"]),
        (VAULT, 5, ["commit 2 (done, cycle ", "rows at 0x14", "of job 2"]),
        (VAULT, 6, ["commit 1 (done, cycle ", "rows at 0x13 (in ctrl.g_bank[0].g_lane[3].mem): it", "the model read rows 0x8"]),
    ],
    ids=lambda v: getattr(v, "stem", ""),
)
def test_a_planted_fault_is_found_and_named(run: Run, files: Path, fault: int, said: list[str]) -> None:
    outcome = run(files, fault)
    assert outcome.exit_code is ExitCode.DIFFERS
    assert outcome.lockstep is not None
    found = outcome.lockstep.divergence
    follows = (": read apb ", " did not end within ")  # registers differ, too, and a job may never end
    assert [d for d in outcome.differences if not any(words in d for words in follows)] == [found], outcome.differences
    for words in said:
        assert words in found


@pytest.mark.parametrize(
    ("fault", "port", "rule"),
    [
        (1, "in", "read while empty"),
        (2, "out", "written while full"),
        (3, "fu", "response without a request"),
        (4, "mem", "request: payload changed while valid waits"),
        (5, "fu", "rsp: valid dropped before ready"),
    ],
)
def test_fifos_a_split_memory_and_a_function_unit_are_watched(run: Run, fault: int, port: str, rule: str) -> None:
    outcome = run(RELAY, fault)
    assert (port, rule, "design") in {(v.port, v.rule, v.blame) for v in outcome.violations}
    assert {v.blame for v in outcome.violations} == {"design"}
    assert outcome.exit_code is ExitCode.DIFFERS


@pytest.mark.parametrize(
    ("commit", "events"), [('"stored", tag=2, events=self.words', 3), ('"polled"', 3)], ids=["write responses", "status"]
)
def test_a_commit_is_the_nth_response_or_a_status_that_a_test_reads(run: Run, commit: str, events: int) -> None:
    outcome = run(COPIER, 0, ('"done"', commit))
    if "polled" in commit:  # the test does not read it
        assert "job 1 (write apb control" in outcome.differences[0]
        assert "never committed: commit polled did not come" in outcome.differences[0]
    else:
        assert outcome.differences == ()
        assert outcome.lockstep is not None
        assert outcome.lockstep.commits == events
        assert "commit done: 3 events of the design not compared, no job names it" in outcome.lockstep.scope
        assert "commit polled: 0 events of the design not compared, no job names it" in outcome.lockstep.scope
        assert outcome.lockstep.uncompared == 3


@pytest.mark.parametrize(
    ("change", "said"),
    [
        (('queue=f"unit {unit}"', 'queue="all"'), "before job 1 (send io"),
        (("tag=tag, queue", "tag=tag + 8, queue"), "which no job waits for; under way: job 1 (send io"),
        (("2 * word)", "3 * word)"), "io word 0 (cycle "),
    ],
)
def test_the_order_that_a_model_declares_is_checked(run: Run, change: tuple[str, str], said: str) -> None:
    outcome = run(PAIRER, 0, change)
    assert outcome.exit_code is ExitCode.DIFFERS
    assert said in outcome.differences[0]
