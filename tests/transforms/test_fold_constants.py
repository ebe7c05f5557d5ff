"""A tensor folds only where all of its elements have the same bits: a constant is one number."""

from __future__ import annotations

import numpy as np
import pytest
from same_results import assert_same_bits, passed
from spelled import Array, data, kinds, trace

from fleet.ir.constants import constant, constant_value
from fleet.ir.dialect import ConstantOp
from fleet.ir.types import tensor_type


def filled(m, value: float) -> Array:
    return Array(m, m.emit(constant(value, tensor_type((2, 6), np.float32))))


STAYS = {
    "two numbers side by side": lambda m: m.concatenate([filled(m, 1.0), filled(m, 2.0)]),
    "the last one differs": lambda m: m.concatenate([filled(m, 1.0), filled(m, 1.0), filled(m, 1.5)]),
    "both zeros": lambda m: m.concatenate([filled(m, 0.0), filled(m, -0.0)]),
    "neighbours": lambda m: m.concatenate([filled(m, 1.0), filled(m, float(np.nextafter(np.float32(1), np.float32(2))))]),
}
FOLDS = {
    "one number twice": (lambda m: m.concatenate([filled(m, 1.5), filled(m, 1.5)]), 1.5),
    "what is computed": (lambda m: m.concatenate([filled(m, 1.0) + filled(m, 2.0), filled(m, 3.0)]), 3.0),
    "a negative zero": (lambda m: m.concatenate([filled(m, -0.0), filled(m, -0.0)]), -0.0),
}


@pytest.mark.parametrize("name", STAYS)
def test_what_has_different_elements_stays(name: str) -> None:
    def model(m, x):
        return m.call("abs", x), STAYS[name](m)

    before = trace(model, x=(2, 6))
    after = passed(before, "fold-constants,dce")
    assert "concat" in kinds(after)
    assert_same_bits(before, after, data(before))


@pytest.mark.parametrize("name", FOLDS)
def test_what_has_the_same_elements_folds(name: str) -> None:
    model, value = FOLDS[name]
    before = trace(lambda m, x: (m.call("abs", x), model(m)), x=(2, 6))
    after = passed(before, "fold-constants,dce")
    assert kinds(after) == ["abs"]
    found = [constant_value(op) for op in after.operations() if isinstance(op, ConstantOp)]
    assert [(v, np.signbit(v)) for v in found if isinstance(v, float)] == [(value, np.signbit(value))]
    assert_same_bits(before, after, data(before))
