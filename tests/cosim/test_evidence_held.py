"""A trace that names hardware is held to what the launcher of its simulation read; no simulation runs here."""

from __future__ import annotations

import gc
import hashlib
from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
import pytest

from fleet.cosim.evidence_held import without_evidence
from fleet.engines.evidence import Evidence, JobEvidence, issued, records_of, register
from fleet.engines.rtl_sim.records import RECORD, RESULT_VALID
from fleet.engines.trace import CYCLE_CLASSES, Commit, Trace


@dataclass
class Named:
    name: str
    target: str = "accel"


def _job(first: int, count: int, cycles: int) -> tuple[JobEvidence, np.ndarray]:
    """A job as a launcher would read it: so many commits of 60 cycles, one a hundred cycles."""
    rows = np.zeros(count, RECORD)
    rows["seq"], rows["digest"], rows["bytes_written"] = np.arange(count), 1000 + first + np.arange(count), 64
    rows["end"] = 100 * (1 + np.arange(count))
    rows["start"] = rows["end"] - 62
    rows["cycles"] = [40, 3, 5, 7, 4, 1]
    rows["error"], rows["result"] = RESULT_VALID, 9
    data = rows.tobytes()
    return register(f"{first:032x}", "0" * 64, data, hashlib.sha256(data).hexdigest(), cycles, 8), rows


def _trace(*jobs: tuple[JobEvidence, np.ndarray]) -> Trace:
    """What an honest engine makes of them."""
    commits: list[Commit] = []
    base = 0
    for job, rows in jobs:
        for row in rows:
            end = base + int(row["end"])
            cycles = dict(zip(CYCLE_CLASSES, row["cycles"].tolist(), strict=True))
            seq = len(commits)
            commits.append(Commit(seq, "mvm", ("y",), int(row["digest"]), 64, 9, end - 60, end, cycles))
        base += job.cycles
    evidence = Evidence("bench", tuple(job for job, _ in jobs))
    return Trace("rtl", "0" * 64, commits=commits, counters={"cycles": float(base)}, complete=True, evidence=evidence)


@pytest.fixture
def honest() -> tuple[Trace, int]:
    before = issued()
    return _trace(_job(1, 2, 250), _job(2, 3, 400)), before


def test_the_trace_of_a_simulation_passes(honest: tuple[Trace, int]) -> None:
    assert without_evidence(Named("rtl"), *honest) is None


@pytest.mark.parametrize("at", [0, 1, 2, 4])
@pytest.mark.parametrize(
    ("change", "says"),
    [
        (lambda c: {"digest": c.digest + 1}, "its trace says digest"),
        (lambda c: {"bytes_written": 128}, "its trace says bytes written 128, its simulation wrote 64"),
        (lambda c: {"result": None}, "its trace says result None, its simulation wrote 9"),
        (
            lambda c: {"cycles": {k: int(n * 1.1) for k, n in c.cycles.items()}, "start": c.start - 4},
            "says cycles of class compute 44",
        ),
        (
            lambda c: {"cycles": dict(zip(c.cycles, [3, 40, 5, 7, 4, 1], strict=True))},
            "says cycles of class compute 3, .* wrote 40",
        ),
        (lambda c: {"cycles": {}, "start": None, "end": None}, "says the end None"),
        (lambda c: {"start": c.start + 100, "end": c.end + 100}, "says the end "),
        (lambda c: {"start": c.start + 1}, "says the start "),
        (lambda c: {"error": 3}, "says error cause 3"),
    ],
    ids=["digest", "bytes", "result", "scaled", "swapped", "no clock", "moved", "start", "error"],
)
def test_whatever_a_commit_says_otherwise_is_named(
    honest: tuple[Trace, int], at: int, change: Callable[[Commit], dict[str, object]], says: str
) -> None:
    trace, before = honest
    trace.commits[at] = replace(trace.commits[at], **change(trace.commits[at]))
    why = without_evidence(Named("rtl"), trace, before)
    assert why is not None
    assert why.startswith(f"commit {at} (mvm): ")
    assert __import__("re").search(says, why), why


def test_commits_and_cycles_are_counted(honest: tuple[Trace, int]) -> None:
    trace, before = honest
    trace.counters["cycles"] = 715.0
    assert without_evidence(Named("rtl"), trace, before) == "counts 715 cycles, its simulation 650"
    del trace.commits[2]
    assert without_evidence(Named("rtl"), trace, before) == "gave back 4 commits, its simulation wrote 5"


def test_jobs_that_were_not_launched_for_this_run(honest: tuple[Trace, int]) -> None:
    trace, before = honest
    rtl = Named("rtl")
    one, other = trace.evidence.jobs
    for jobs, says in (
        ((), "claims a simulation, and none of its jobs is in its evidence"),
        ((one, one), "states the same job of a simulation twice"),
        ((one, replace(other, nonce="f" * 32)), f"states a job with nonce {'f' * 16}, which the launcher has not issued"),
        ((one, replace(other, cycles=401)), f"states a job with nonce {other.nonce[:16]}, which the launcher has not issued"),
        ((one,), "gave back 5 commits, its simulation wrote 2"),
    ):
        assert without_evidence(rtl, replace(trace, evidence=Evidence("bench", jobs)), before) == says
    assert without_evidence(rtl, trace, issued()) == f"states job {one.nonce[:16]} of a simulation of an earlier run"


def test_hardware_without_a_simulation(honest: tuple[Trace, int]) -> None:
    trace, before = honest
    model = replace(trace, evidence=Evidence())
    for name in ("rtl", "board", "fpga"):
        why = without_evidence(Named(name), model, before)
        assert why == f"has the name of hardware ({name}) and the evidence of a model: no simulation was launched for it"
    assert without_evidence(Named("fast"), model, before) == "gave back cycles at commit 0 (mvm), and no simulation counted them"
    quiet = [replace(c, cycles={}, start=None, end=None) for c in model.commits]
    assert (
        without_evidence(Named("fast"), replace(model, commits=quiet), before)
        == "counts 650 cycles, and no simulation counted them"
    )
    silent = replace(model, commits=quiet, counters={"cycles_estimate": 650.0})
    assert without_evidence(Named("fast"), silent, before) is None, "a model need say nothing"
    assert without_evidence(Named("vm", "bytecode"), Trace("vm", "0" * 64), before) is None


def test_a_board_is_refused(honest: tuple[Trace, int]) -> None:
    trace, before = honest
    why = without_evidence(Named("card"), replace(trace, evidence=Evidence("board")), before)
    assert why == "claims a board, and none is known: see fleet/engines/evidence.py for what one must bring"


def test_records_are_kept_as_long_as_somebody_has_their_evidence() -> None:
    job, rows = _job(7, 1, 100)
    same = replace(job)
    assert records_of(same) == rows.tobytes(), "by what it states"
    del job
    gc.collect()
    assert records_of(same) is None


def test_evidence_is_stored_with_a_trace(honest: tuple[Trace, int], tmp_path: Path) -> None:
    trace, before = honest
    trace.save(tmp_path / "trace.npz")
    assert (loaded := Trace.load(tmp_path / "trace.npz")) == trace
    assert without_evidence(Named("rtl"), loaded, before) is None, "as long as this process holds what was launched"


def test_a_sample_has_its_own_commits_and_no_clock(honest: tuple[Trace, int]) -> None:
    trace, before = honest
    bare = [replace(c, start=None, end=None, cycles={}) for c in trace.commits]
    sampled = replace(trace, commits=bare, counters={}, evidence=replace(trace.evidence, kind="sample"))
    rtl = Named("rtl")
    assert without_evidence(rtl, sampled, before) is None
    says = "counts the cycles of a run, and its simulation ran a sample"
    assert without_evidence(rtl, replace(sampled, counters={"cycles": 650.0}), before) == says
    assert without_evidence(rtl, replace(sampled, commits=bare[:-1]), before) == "gave back 4 commits, its simulation wrote 5"
    wrong = [*bare[:-1], replace(bare[-1], digest=1)]
    assert "its trace says digest" in (without_evidence(rtl, replace(sampled, commits=wrong), before) or "")
