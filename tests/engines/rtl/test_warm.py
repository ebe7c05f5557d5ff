"""Simulations that a session keeps between runs."""

from __future__ import annotations

import time
from collections.abc import Iterator
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from fleet.engines.legs.warm import end_warm, give, keep_warm, take
from fleet.engines.rtl_sim.process import Simulation
from fleet.errors import ComparisonFailure
from fleet.regress import warm_runs


@pytest.fixture
def session() -> Iterator[None]:
    end_warm()  # of the session that this test is in
    keep_warm()
    yield
    end_warm()


@pytest.mark.usefixtures("session")
def test_the_same_process_serves_the_next_run(executable: Path) -> None:
    one = take(executable, 3)
    assert one is not None
    give(one)
    assert not one.closed
    assert take(executable, 3) is one
    assert take(executable, 3) is not one, "it is lent"


@pytest.mark.usefixtures("session")
def test_another_seed_is_another_process_and_the_oldest_ends(executable: Path) -> None:
    found = [take(executable, seed) for seed in (1, 2, 3)]
    assert len({s.pid for s in found if s is not None}) == 3
    for simulation in found:
        assert simulation is not None
        give(simulation)
    assert [s.closed for s in found if s is not None] == [True, False, False]


@pytest.mark.usefixtures("session")
def test_a_process_that_ended_is_not_taken_again(executable: Path) -> None:
    one = take(executable, 3)
    assert one is not None
    one.close()
    give(one)
    other = take(executable, 3)
    assert other is not None
    assert other is not one
    give(other)


@pytest.mark.usefixtures("session")
def test_a_process_that_died_while_it_waited_is_not_taken_again(executable: Path) -> None:
    one = take(executable, 3)
    assert one is not None
    give(one)
    one.kill()
    while one.running:
        time.sleep(0.01)
    other = take(executable, 3)
    assert other is not None
    assert other.running
    assert one.closed
    give(other)


@pytest.mark.usefixtures("session")
@pytest.mark.parametrize("raises", [False, True])
@pytest.mark.parametrize("passes", ["never", "in a new one"])
def test_a_run_that_fails_in_a_used_simulation_is_repeated_in_a_new_one(
    executable: Path, monkeypatch: pytest.MonkeyPatch, passes: str, raises: bool
) -> None:
    pids: list[int] = []

    def run_case(run: object, options: object) -> SimpleNamespace:
        simulation = take(executable, 3)
        assert simulation is not None
        used = simulation.pid in pids
        pids.append(simulation.pid)
        give(simulation)
        fails = used or (passes == "never" and len(pids) > 1)
        if fails and raises:
            raise ComparisonFailure("a byte differs")
        return SimpleNamespace(verdict="fail" if fails else "pass", reasons=["a byte differs"], number=len(pids))

    monkeypatch.setattr(warm_runs, "run_case", run_case)
    run: Any = SimpleNamespace(name="mine[0]")
    options: Any = None
    assert warm_runs.run_case_warm(run, options).verdict == "pass"
    if passes == "never" and not raises:
        result: Any = warm_runs.run_case_warm(run, options)
        assert (result.verdict, result.number) == ("fail", 3)
    else:
        says = "^a byte differs" if passes == "never" else "a reset leaves state behind: a byte differs"
        with pytest.raises(ComparisonFailure, match=says):
            warm_runs.run_case_warm(run, options)
    assert pids[0] == pids[1] != pids[2]
    assert len(pids) == 3


@pytest.mark.usefixtures("session")
def test_the_end_of_the_session_ends_them(executable: Path) -> None:
    one = take(executable, 3)
    assert one is not None
    give(one)
    end_warm()
    assert one.closed


def test_outside_a_session_nothing_is_kept(executable: Path, tmp_path: Path) -> None:
    end_warm()
    assert take(executable, 3) is None
    own = Simulation(executable, tmp_path, seed=3)
    give(own)
    assert own.closed
