"""Operations on numbers that are known when a program is compiled: Python's on Python's numbers, NumPy's on arrays."""

from __future__ import annotations

import math

import numpy as np
import pytest
from spelled import Array, trace

from fleet.ir.constants import constant
from fleet.ir.types import element_type, tensor_type
from fleet.transforms.simplify.numbers import COMPUTED, call_of

NUMBERS = {  # of a Python number: what Python makes of it
    "cast": (lambda m, x: m.call("cast", x, dtype=np.dtype("int64")), 2.75, 2),
    "negative": (lambda m, x: m.call("neg", x), 2.75, -2.75),
    "root": (lambda m, x: m.call("sqrt", x), 2.25, 1.5),
    "exponential": (lambda m, x: m.call("exp", x), 1.0, math.e),
    "larger": (lambda m, x: m.binary("maximum", x, 3.0), 2.75, 3.0),
}


@pytest.mark.parametrize("name", NUMBERS)
@pytest.mark.parametrize("tensor", [False, True])
def test_every_kind_of_operation_has_a_function(name: str, tensor: bool) -> None:
    model, value, expected = NUMBERS[name]
    type_ = tensor_type((), np.float64) if tensor else element_type(np.float64)

    def traced(m, x):
        return model(m, Array(m, m.emit(constant(value, type_))))

    program = trace(traced, x=(2,), dtype="float64")
    op = next(o for o in program.operations() if type(o) in COMPUTED)
    operands = [3.0 if name == "larger" and i else value for i in range(len(op.operands))]
    found = call_of(op)(*(np.float64(v) for v in operands))
    assert float(found) == pytest.approx(expected)
    assert isinstance(found, np.generic | np.ndarray) == tensor or name in {"root", "exponential", "larger"}
