"""exp32, recip and rsqrt of the hardware and of the functional model on every FP16 value: the same bits."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest
from test_sfu_functions import Probe

from fleet.sets.hbm0923.numerics.functions import exp32, recip, rsqrt


@pytest.fixture(scope="module")
def probe(tmp_path_factory: pytest.TempPathFactory) -> Probe:
    return Probe(tmp_path_factory.mktemp("sfu_model"))


@pytest.mark.parametrize(("kind", "function"), [("exp", exp32), ("recip", recip), ("rsqrt", rsqrt)])
def test_all_65536_inputs(probe: Probe, kind: str, function: Callable[[np.ndarray], np.ndarray]) -> None:
    x = np.arange(65536, dtype=np.uint16).view(np.float16).astype(np.float32)
    with np.errstate(all="ignore"):
        expected = np.asarray(function(x), np.float32)
    got = probe(kind, x.view(np.uint32))
    nan = np.isnan(expected)
    assert np.isnan(got.view(np.float32)[nan]).all()
    wrong = np.flatnonzero((got != expected.view(np.uint32)) & ~nan)
    assert not wrong.size, [(float(x[i]), hex(got[i]), hex(expected.view(np.uint32)[i])) for i in wrong[:5]]
