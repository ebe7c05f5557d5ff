"""Tiers of the planted faults: quick, a sample with --nightly, all with --weekly."""

from __future__ import annotations

import pytest
import tiers
from catalogue import FAULTS
from planting import Fault


def pytest_report_header(config: pytest.Config) -> str:
    """The seed of the sample, so that a night can be done again."""
    faults = chosen(config)
    which = "all" if config.getoption("--weekly") else "sampled" if config.getoption("--nightly") else "quick"
    seed = tiers.seed_of_the_day()
    return f"planted faults: {len(faults)} of {len(FAULTS)} ({which}, seed {seed}; FLEET_FAULT_SEED={seed} draws the same)"


def chosen(config: pytest.Config) -> list[Fault]:
    """The faults of this run."""
    nightly, weekly = bool(config.getoption("--nightly")), bool(config.getoption("--weekly"))
    return tiers.chosen_faults(FAULTS, nightly=nightly, weekly=weekly, seed=tiers.seed_of_the_day())


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    """One test a fault, and one for each command without a fault."""
    faults = chosen(metafunc.config)
    if "fault" in metafunc.fixturenames:
        metafunc.parametrize("fault", faults, ids=[f.name for f in faults])
    if "control" in metafunc.fixturenames:
        first = {(bool(f.choices), f.command): f for f in reversed(faults) if f.passes_without}
        controls = [f for f in faults if first.get((bool(f.choices), f.command)) is f]
        metafunc.parametrize("control", controls, ids=[f.name for f in controls])
