"""What must not matter: the design's state at power-on, and an operation that a reset cut short."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from fleet.streams.case import Setting
from fleet.streams.run import StreamRunner
from fleet.verify.conformance.suite import make_case, names, suite_devices

DEVICES = suite_devices(all_devices=False)


def _one_of_each(device: str) -> list[str]:
    """A directed case of every instruction, and a program."""
    first = {name.split("/")[1]: name for name in reversed(names(device)) if name.endswith(("/directed/0", "/directed/7"))}
    return [*first.values(), f"{device}/program/0"]


@pytest.mark.parametrize("device", DEVICES)
def test_results_do_not_depend_on_the_state_at_power_on(device: str, request: pytest.FixtureRequest) -> None:
    """Every flip-flop and memory starts with random bits, other ones for every seed."""
    cycles: dict[str, set[int]] = {}
    for seed in range(12 if request.config.getoption("--nightly") else 3):
        with StreamRunner(device, power_on=1000 + seed) as runner:
            for name in _one_of_each(device):
                (outcome,) = runner.run(make_case(name))
                assert outcome.passed, (name, seed, outcome.reasons)
                cycles.setdefault(name, set()).add(outcome.cycles)
    assert cycles
    assert all(len(found) == 1 for found in cycles.values()), f"cycles depend on it: {cycles}"


@pytest.mark.parametrize("device", DEVICES)
def test_a_run_after_a_reset_in_the_middle_of_an_operation_is_clean(
    device: str, runners: Callable[[str], StreamRunner], request: pytest.FixtureRequest
) -> None:
    """After every pause another part of the unit is at work when the reset comes; the next run must not know of it."""
    runner = runners(device)
    step = 1 if request.config.getoption("--nightly") else 5
    for name in _one_of_each(device):
        case = make_case(name)
        (clean,) = runner.run(case)
        assert clean.passed, (name, clean.reasons)
        for pause in range(0, 40, step):
            runner.abandon(case, Setting(f"stall:{pause}" if pause % 2 else "ideal"), pause)
            (again,) = runner.run(case)
            assert again.passed, (name, pause, again.reasons)
            assert again.cycles == clean.cycles, (name, pause, "cycles are not those of a clean run")
