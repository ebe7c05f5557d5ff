"""vgemm's simulation, as it is and with faults planted into it: each built once."""

from __future__ import annotations

import pytest
from planted_legs import planted

from fleet.engines.rtl_sim.build import Design


@pytest.fixture(scope="session")
def faulty(tmp_path_factory: pytest.TempPathFactory) -> Design:
    return planted(tmp_path_factory.mktemp("planted"))
