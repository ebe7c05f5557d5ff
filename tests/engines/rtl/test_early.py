"""Simulations that start before their memory is there."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from fleet.engines import rtl as rtl_engine
from fleet.engines.base import RunOptions
from fleet.engines.legs.pool import Simulations
from fleet.engines.rtl import RtlBackend
from fleet.engines.rtl_sim.build import build, design_of
from fleet.engines.rtl_sim.process import Simulation, SimulationError
from fleet.isa.memory import MappedMemory
from fleet.isa.registry import find_device
from fleet.verify.conformance.suite import make_case

CASE = make_case("vgemm_small/program/1")
SET, DEVICE = find_device("vgemm_small")


@pytest.fixture
def memory(tmp_path: Path) -> Iterator[MappedMemory]:
    found = MappedMemory.fresh(DEVICE, tmp_path / "memory", [], CASE.parameters)
    for block in CASE.blocks:
        block.put(found)
    yield found
    found.close()


@pytest.fixture
def started(monkeypatch: pytest.MonkeyPatch) -> list[Path]:
    """The folders of the processes that were started."""
    build(design_of(SET, DEVICE))
    folders: list[Path] = []

    class Counted(Simulation):
        def __init__(self, executable: Path, folder: Path, *, seed: int = 0) -> None:
            folders.append(folder)
            super().__init__(executable, folder, seed=seed)

    monkeypatch.setattr(rtl_engine, "Simulation", Counted)
    monkeypatch.setattr(rtl_engine, "take", lambda *_: None)
    return folders


@pytest.mark.parametrize("jobs", [1, 2])
def test_what_started_early_is_used(tmp_path: Path, memory: MappedMemory, started: list[Path], jobs: int) -> None:
    options, backend = RunOptions(workdir=tmp_path, rtl_jobs=jobs), RtlBackend(shortest_leg=10_000)
    backend.early(SET, DEVICE, options)
    backend.open(SET, DEVICE, memory, replace(options, progress=lambda _fraction, _words: None))
    commits = backend.execute(CASE.calls * 20, 0)
    backend.close()
    assert len(commits) == 20 * len(CASE.calls)
    assert len(started) == jobs
    assert len(set(started)) == jobs


def test_what_started_for_other_options_is_ended(tmp_path: Path, memory: MappedMemory, started: list[Path]) -> None:
    options, backend = RunOptions(workdir=tmp_path), RtlBackend()
    backend.early(SET, DEVICE, options)
    backend.open(SET, DEVICE, memory, replace(options, seed=3))
    assert len(backend.execute(CASE.calls, 0)) == len(CASE.calls)
    backend.close()
    assert len(started) == 2


def test_what_must_be_built_first_does_not_start(tmp_path: Path, started: list[Path], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(rtl_engine, "stored", lambda *_arguments, **_options: False)
    monkeypatch.setattr(rtl_engine, "build", lambda *_arguments, **_options: pytest.fail("built"))
    backend = RtlBackend()
    backend.early(SET, DEVICE, RunOptions(workdir=tmp_path))
    backend.close()
    assert not started


def test_a_process_that_does_not_start_is_told_when_it_is_wanted() -> None:
    def start(number: int) -> Simulation:
        raise SimulationError(f"number {number} did not get ready")

    simulations = Simulations(start)
    simulations.begin(2)
    with pytest.raises(SimulationError, match="number 0"):
        simulations.take()
    simulations.close()
    with pytest.raises(SimulationError, match="number 2"):
        simulations.take()
