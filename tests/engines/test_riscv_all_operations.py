"""Every operation of the dialect on the `riscv` engine, with the cases that the IR's own tests use."""

from __future__ import annotations

import sys
from pathlib import Path

import numpy as np
import pytest

sys.path.insert(0, str(Path(__file__).parents[1] / "ir"))
from operations import CASES, Case
from riscv_models import run

from fleet.ir.dialect import FLEET, SizedOp, kind_of

pytestmark = pytest.mark.filterwarnings("ignore::RuntimeWarning")


SIZED = {kind_of(op) for op in FLEET.operations if issubclass(op, SizedOp)}
"""Operations whose sizes only the run knows: refused here, as memory is planned before the run."""
STATIC = [c for c in CASES if c.name not in SIZED and not c.by_numpy_alone]


@pytest.mark.parametrize("case", STATIC, ids=[f"{i}-{c.name}" for i, c in enumerate(STATIC)])
def test_as_numpy(case: Case) -> None:
    got = run(case.arrays(), case.emit).outputs["out0"]
    want = np.asarray(case.expected(*case.operands))
    assert got.shape == want.shape
    if case.name != "dim":
        assert got.dtype == want.dtype
    if want.dtype.kind != "f" or case.name in ("add", "sub", "mul", "div", "floor_div", "mod", "slice", "where", "pad", "rint"):
        np.testing.assert_array_equal(got, want)
    else:
        np.testing.assert_allclose(got, want, rtol=3e-6, atol=2e-6)
