"""`@jit(tune=...)`: exercise 2 of seed 003. A search keeps the cheapest schedule, and no schedule changes a bit."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from fleet import jit
from fleet.compiler import Schedule
from fleet.compiler.tuning import choose
from fleet.engines.riscv import ENGINE as RISCV
from fleet.errors import FleetError
from fleet.targets.schedule import searched

RNG = np.random.default_rng(3)
W = RNG.standard_normal((24, 24)).astype(np.float32)
X = RNG.standard_normal((5, 24)).astype(np.float32)


def layer(x):
    y = np.maximum(x @ W + 0.5, 0)
    return y / (1 + np.exp(-y)), (x * 2 + 1).sum(axis=0), x.astype(np.float64).mean(axis=1)


@pytest.fixture(autouse=True)
def _own_cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("FLEET_CACHE", str(tmp_path / "cache"))


def test_every_schedule_gives_the_same_bits() -> None:
    wanted = [a.tobytes() for a in jit(layer)(X)]
    for schedule in searched("cpu"):
        assert [a.tobytes() for a in jit(tune=[schedule])(layer)(X)] == wanted, schedule


def test_schedules_are_other_code(tmp_path: Path) -> None:
    for schedule in (Schedule(), Schedule(vectorise=False)):
        jit(tune=[schedule])(layer)(X)
    first, second = (tmp_path / "cache" / "host").glob("*.o")
    assert first.read_bytes()[:-32] != second.read_bytes()[:-32]


def test_on_this_processor_the_shortest_time_wins() -> None:
    tuned = jit(tune=True)(layer)
    tuned(X)
    found = tuned.tuning(X)
    assert found is not None
    assert list(found.costs) == list(searched("cpu"))
    assert found.costs[found.best] == min(found.costs.values()) > 0
    again = jit(tune=True)(layer).tuning(X)
    assert again is not None
    assert (again.best, again.costs) == (found.best, {})  # as another process would find it


def test_the_cheapest_is_chosen_and_the_first_of_equals(tmp_path: Path) -> None:
    costs = {Schedule(): 3.0, Schedule(unroll=False): 1.0, Schedule(vectorise=False): 1.0}
    program = jit(layer).lower(X).program
    found = choose(program, "cpu", tuple(costs), lambda schedule: lambda: costs[schedule])
    assert found.best == Schedule(unroll=False)
    (kept,) = (tmp_path / "cache" / "schedules").iterdir()
    kept.write_text("17")  # no number of a schedule: searched again
    assert choose(program, "cpu", tuple(costs), lambda schedule: lambda: costs[schedule]).costs == costs


def test_on_riscv_the_fewest_instructions_win() -> None:
    if RISCV.available() is not None:
        pytest.skip(str(RISCV.available()))
    tuned = jit(target="riscv", tune=True)(layer)
    same = [a.tobytes() for a in jit(target="riscv")(layer)(X)]
    assert [a.tobytes() for a in tuned(X)] == same
    found = tuned.tuning(X)
    assert found is not None
    assert list(found.costs) == list(searched("riscv"))
    assert found.costs[found.best] == min(found.costs.values())
    assert len(set(found.costs.values())) > 2  # exact counts: the schedules are other code
    assert ("schedule = {" in tuned.lower(X).text("loops")) == (found.best != Schedule())


def test_what_has_no_machine_code_is_not_tuned() -> None:
    def solved(a):
        return np.linalg.inv(a)

    tuned = jit(tune=True)(solved)
    np.testing.assert_array_equal(tuned(np.eye(3)), np.eye(3))
    assert tuned.tuning(np.eye(3)) is None


def test_targets_and_values_that_are_not_tuned() -> None:
    with pytest.raises(
        FleetError, match="nothing can be tuned on target vm; targets with schedules are cpu, llvm-cpu, riscv, opencl, cuda"
    ):
        jit(target="vm", tune=True)
    for wrong in ([], ["fast"]):
        with pytest.raises(FleetError, match="tune takes True or schedules"):
            jit(tune=wrong)
