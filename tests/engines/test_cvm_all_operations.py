"""Every operation of the dialect on `cvm`, in one program: the bits of `llvm-cpu`, whose kernels it has, and NumPy's values."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from xdsl.ir import SSAValue

sys.path.insert(0, str(Path(__file__).parents[1] / "ir"))
from operations import CASES, Case
from riscv_models import Maker, model

from fleet.engines.base import RunOptions
from fleet.engines.cvm import ENGINE
from fleet.engines.llvm_cpu import ENGINE as LLVM
from fleet.ir.dialect import FLEET, SizedOp, kind_of
from fleet.ir.types import element_type

pytestmark = [
    pytest.mark.filterwarnings("ignore::RuntimeWarning"),
    pytest.mark.skipif(ENGINE.available() is not None, reason=str(ENGINE.available())),
]

SIZED = {kind_of(op) for op in FLEET.operations if issubclass(op, SizedOp)}
STATIC = [c for c in CASES if c.name not in SIZED and not c.by_numpy_alone]
EXACT = ("add", "sub", "mul", "div", "floor_div", "mod", "slice", "where", "pad", "rint")


def is_number(value: Any) -> bool:
    return isinstance(value, bool | int | float)


def arguments(*, turned: bool) -> dict[str, np.ndarray]:
    found = {f"x{i}_{j}": np.asarray(v) for i, c in enumerate(STATIC) for j, v in enumerate(c.operands) if not is_number(v)}
    return {name: np.ascontiguousarray(v.T) if turned else v for name, v in found.items()}


def body(m: Maker, values: Sequence[SSAValue], *, turned: bool) -> list[SSAValue]:
    given = iter(values)

    def operand(value: Any) -> SSAValue:
        if is_number(value):
            return m.constant(value, element_type("float64" if isinstance(value, float) else "int64"))
        array = next(given)
        rank = np.ndim(value)
        return m("transpose", array, permutation=list(range(rank))[::-1]) if turned and rank > 1 else array

    def one(i: int, case: Case) -> SSAValue:
        operands = [operand(v) for v in case.operands]
        return m(case.name, *operands, id=f"case{i}.{case.name}", **case.attributes)

    return [one(i, case) for i, case in enumerate(STATIC)]


@pytest.mark.parametrize("turned", [False, True], ids=["as they are", "as views"])
def test_all_operations(turned: bool) -> None:
    arrays = arguments(turned=turned)
    program = model(arrays, lambda m, *values: body(m, values, turned=turned))
    got, reference = (engine.run(program, arrays, RunOptions()) for engine in (ENGINE, LLVM))
    assert got.complete
    assert set(got.tensors) <= set(reference.tensors)
    for id_, tensor in got.tensors.items():
        np.testing.assert_array_equal(tensor, reference.tensors[id_], err_msg=id_, strict=True)
    for i, case in enumerate(STATIC):
        found, want = got.outputs[f"out{i}"], np.asarray(case.expected(*case.operands))
        np.testing.assert_array_equal(found, reference.outputs[f"out{i}"], err_msg=case.name, strict=True)
        assert found.shape == want.shape, case.name
        if want.dtype.kind != "f" or case.name in EXACT:
            np.testing.assert_array_equal(found, want, err_msg=case.name)
        else:
            np.testing.assert_allclose(found, want, rtol=3e-6, atol=2e-6, err_msg=case.name)
