from __future__ import annotations

from collections.abc import Iterator

import pytest
from mvm_random import Runner


@pytest.fixture(scope="module")
def small(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Runner]:
    """hbm_small, built once (cached) and running."""
    runner = Runner("hbm_small", tmp_path_factory.mktemp("hbm small"))
    yield runner
    runner.close()
