from __future__ import annotations

import pytest
from mvm_devices import make_device

from fleet.sdk import Device


@pytest.fixture(params=["hbm_small", "hbm0923"])
def device(request: pytest.FixtureRequest) -> Device:
    return make_device(request.param)
