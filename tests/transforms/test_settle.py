"""Sizes that are operands become attributes once they are numbers."""

from __future__ import annotations

import numpy as np
import pytest
from same_results import assert_same_bits, passed
from spelled import Array, Model, data, kinds, the, trace

from fleet.ir.constants import constant
from fleet.ir.operations.operation import attributes_of
from fleet.ir.shapes import UNKNOWN
from fleet.ir.types import element_type


def reshaped(*sizes: int) -> Model:
    """x.reshape(*sizes), every size an operand."""

    def model(m, x):
        numbers = [Array(m, m.emit(constant(n, element_type(np.int64)))) for n in sizes]
        return m.call("dynamic_reshape", x, *numbers, shape=[UNKNOWN] * len(sizes))

    return model


@pytest.mark.parametrize(
    ("sizes", "shape"),
    [((3, 8), (3, 8)), ((3, -1), (3, 8)), ((-1,), (24,)), ((2, -1, 4), (2, 3, 4)), ((-1, 24), (1, 24)), ((2, 3, 4), (2, 3, 4))],
)
def test_a_reshape_to_known_sizes_works_out_what_is_left(sizes: tuple[int, ...], shape: tuple[int, ...]) -> None:
    before = trace(reshaped(*sizes), x=(4, 6))
    after = passed(before, "infer-shapes,dce")
    assert kinds(after) == ["reshape"]
    assert tuple(attributes_of(the(after, "reshape"))["shape"]) == np.empty((4, 6)).reshape(sizes).shape == shape
    assert_same_bits(before, after, data(before))


def test_what_changes_nothing_goes() -> None:
    def model(m, x):
        return m.call("abs", reshaped(4, -1)(m, x))

    before = trace(model, x=(4, 6))
    after = passed(before, "infer-shapes,dce")
    assert kinds(after) == ["abs"]
    assert_same_bits(before, after, data(before))
