"""Runs that overlap on one memory, beside the same runs one after the other; what fails or stops voids the runs behind it."""

from __future__ import annotations

import os
import signal
from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from fleet.engines.base import RunOptions
from fleet.engines.iss import IssBackend
from fleet.engines.legs.write_log import WriteLog
from fleet.engines.rtl import RtlBackend
from fleet.engines.rtl_sim.job import Job, JobStatus
from fleet.engines.rtl_sim.process import Simulation, SimulationError
from fleet.engines.trace import Commit
from fleet.errors import FleetError
from fleet.isa.memory import MappedMemory
from fleet.isa.registry import find_device
from fleet.sdk import Call, Memory
from fleet.verify.conformance.suite import make_case

CASE = make_case("vgemm_small/program/1")
SET, DEVICE = find_device("vgemm_small")
CALLS = CASE.calls * 20
RUNS = 4


class Opened:
    """An engine on a memory of its own. jobs: 0 for the functional model, which keeps its writes in `log`."""

    def __init__(self, folder: Path, jobs: int, log: WriteLog | None = None) -> None:
        self.memory = MappedMemory.fresh(DEVICE, folder / "memory", [], CASE.parameters)
        for block in CASE.blocks:
            block.put(self.memory)
        self.backend = RtlBackend(shortest_leg=10_000) if jobs else IssBackend()
        self.backend.open(SET, DEVICE, self.memory, RunOptions(workdir=folder, rtl_jobs=max(1, jobs), written=log))

    @property
    def rtl(self) -> RtlBackend:
        assert isinstance(self.backend, RtlBackend)
        return self.backend

    @property
    def host(self) -> Memory:
        assert self.rtl.relay is not None
        return self.rtl.relay.host

    def begin(self, number: int, expected: Sequence[Commit] = ()) -> None:
        write(self.host, number)
        self.rtl.expect(expected)
        self.rtl.begin(CALLS, number * len(CALLS))

    def execute(self, number: int) -> Sequence[Commit]:
        write(self.memory, number)
        return self.backend.execute(CALLS, number * len(CALLS))

    def images(self) -> list[bytes]:
        return [self.memory.view(s, 0, DEVICE.memory[s], bank).tobytes() for s, bank in self.memory.paths]

    def inside(self) -> dict[str, bytes]:
        return {name: self.memory.view(name, 0, array.size).tobytes() for name, array in DEVICE.arrays.items()}

    def close(self) -> None:
        self.backend.close()
        self.memory.close()


def write(memory: Memory, number: int) -> None:
    """What the host does before each run: it changes inputs, so that no two runs are the same."""
    for block in CASE.blocks:
        if block.space in DEVICE.memory:
            view = memory.view(block.space, block.offset, block.data.nbytes, block.bank)
            view[::97] ^= np.uint8(number)


@pytest.fixture
def log() -> WriteLog:
    return WriteLog()


@pytest.fixture
def ahead(tmp_path: Path, log: WriteLog) -> Iterator[Opened]:
    found = Opened(tmp_path / "ahead", 2, log)
    yield found
    found.close()


@pytest.fixture
def model(tmp_path: Path, log: WriteLog) -> Iterator[Opened]:
    found = Opened(tmp_path / "model", 0, log)
    yield found
    found.close()


def bits(commits: Sequence[Commit]) -> list[tuple[object, ...]]:
    return [(c.seq, c.instruction, c.digest, c.bytes_written, c.result) for c in commits]


@pytest.mark.parametrize("expecting", [True, False])
@pytest.mark.parametrize("jobs", [1, 2])
def test_overlapping_runs_are_the_runs(tmp_path: Path, ahead: Opened, model: Opened, jobs: int, expecting: bool) -> None:
    one = Opened(tmp_path / "one", jobs)
    wanted = [one.execute(n) for n in range(RUNS)]
    expected = [model.execute(n) if expecting else () for n in range(RUNS)]
    for n in range(RUNS):
        ahead.begin(n, expected[n])
    found = [ahead.rtl.end() for _ in range(RUNS)]
    assert [bits(f) for f in found] == [bits(w) for w in wanted]
    assert [[(c.start, c.end, c.cycles) for c in f] for f in found] == [[(c.start, c.end, c.cycles) for c in w] for w in wanted]
    assert len({bits(w)[-1] for w in wanted}) == RUNS, "no two runs are the same"
    mine, theirs = ({k: v for k, v in o.backend.counters().items() if "second" not in k} for o in (ahead, one))
    assert mine == theirs
    assert ahead.images() == one.images()
    if jobs > 1:  # a run that is not cut leaves these in the simulation
        assert ahead.inside() == one.inside()
    assert ahead.rtl.evidence().cut.startswith("cut into ")
    ahead.begin(RUNS)
    assert bits(ahead.rtl.end()) == bits(one.execute(RUNS)), "and they go on"
    one.close()


def test_results_are_those_of_the_run_that_has_ended(ahead: Opened, model: Opened) -> None:
    images: list[list[bytes]] = []
    for n in range(RUNS):
        commits = model.execute(n)
        images.append(model.images())
        ahead.begin(n, commits)
    relay = ahead.rtl.relay
    assert relay is not None
    for n in range(RUNS):
        ahead.rtl.end()
        assert [relay.results.view(s, 0, DEVICE.memory[s], bank).tobytes() for s, bank in ahead.memory.paths] == images[n]


def test_a_commit_that_differs_voids_the_runs_behind_it(ahead: Opened, model: Opened) -> None:
    at = len(CALLS) // 2
    states: list[list[bytes]] = []
    for n in range(RUNS):
        expected = list(model.execute(n))
        states.append(model.images())
        if n == 1:
            expected[at] = replace(expected[at], digest=expected[at].digest ^ 1)
        ahead.begin(n, expected)
    assert len(ahead.rtl.end()) == len(CALLS)
    assert [c.seq for c in ahead.rtl.end()] == [*range(len(CALLS), len(CALLS) + at + 1)], "it ends there"
    assert ahead.images() != states[0]
    with pytest.raises(SimulationError, match="no run is under way"):
        ahead.rtl.end()
    assert ahead.rtl.hardware().memory is ahead.memory


def test_what_the_model_refuses_is_raised_in_its_turn(ahead: Opened) -> None:
    ahead.begin(0)
    call = next(c for c in CALLS if c.instruction == "gemm")
    wrong = Call(call.instruction, {**call.fields, next(iter(call.fields)): 0xFFFF_FFFF})
    ahead.rtl.begin([*CALLS[:5], wrong], len(CALLS))
    ahead.begin(2)
    assert len(ahead.rtl.end()) == len(CALLS)
    with pytest.raises(FleetError):
        ahead.rtl.end()
    with pytest.raises(SimulationError, match="no run is under way"):
        ahead.rtl.end()


def test_a_process_that_is_lost_is_replaced(ahead: Opened, model: Opened, monkeypatch: pytest.MonkeyPatch) -> None:
    right, killed = Simulation.run, list[int]()

    def run(self: Simulation, job: Job, progress: object = None) -> JobStatus:
        if "/legs_2/" in str(job.script) and not killed:
            killed.append(self.pid)
            os.kill(self.pid, signal.SIGKILL)
        return right(self, job)

    monkeypatch.setattr(Simulation, "run", run)
    expected = [model.execute(n) for n in range(RUNS)]
    for n in range(RUNS):
        ahead.begin(n, expected[n])
    assert [bits(ahead.rtl.end()) for _ in range(RUNS)] == [bits(e) for e in expected]
    assert killed


def test_a_backend_that_closes_ends_the_runs_under_way(ahead: Opened) -> None:
    for n in range(RUNS):
        ahead.begin(n)
    ahead.rtl.close()
    assert ahead.rtl.relay is None
