"""The loopback design in the bench, built once (then taken from the cache), and one process that serves the tests' jobs."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from loopback import Workplace, loopback

from fleet.engines.rtl_sim.build import build
from fleet.engines.rtl_sim.process import Simulation


@pytest.fixture(scope="session")
def executable() -> Path:
    return build(loopback())


@pytest.fixture(scope="module")
def simulation(executable: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Simulation]:
    with Simulation(executable, tmp_path_factory.mktemp("simulation"), seed=5) as running:
        yield running


@pytest.fixture
def place(tmp_path: Path) -> Workplace:
    return Workplace(tmp_path)
