"""Simulations that a session keeps between runs."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from fleet.engines.legs.warm import end_warm, give, keep_warm, take
from fleet.engines.rtl_sim.process import Simulation


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
