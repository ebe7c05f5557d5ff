"""The functions that activation tables are fitted to, against other ways of writing them; the tables against the functions."""

from __future__ import annotations

import math

import numpy as np
import pytest

from fleet.sets.hbm0923.numerics import act_fit
from fleet.sets.hbm0923.numerics.act_tables import act_table

X = np.linspace(-12, 12, 481)


def expit(x: np.ndarray) -> np.ndarray:
    return 1 / (1 + np.exp(-x))


FUNCTIONS = {
    "silu": X * expit(X),
    "gelu": X * 0.5 * np.array([1 + math.erf(v / math.sqrt(2)) for v in X]),
    "gelu_tanh": X * expit(2 * math.sqrt(2 / math.pi) * (X + 0.044715 * X**3)),  # (1 + tanh z) / 2 = expit(2 z)
    "sigmoid": expit(X),
    "tanh": 2 * expit(2 * X) - 1,
}


@pytest.mark.parametrize("name", act_fit.SHAPES)
def test_functions_are_those_of_their_names(name: str) -> None:
    found = [act_fit.SHAPES[name].function(v) for v in X.tolist()]
    np.testing.assert_allclose(found, FUNCTIONS[name], rtol=1e-9, atol=1e-12)


@pytest.mark.parametrize("name", act_fit.SHAPES)
def test_a_tail_is_what_the_function_tends_to(name: str) -> None:
    shape = act_fit.SHAPES[name]
    for x, (slope, offset) in ((-40.0, shape.below), (40.0, shape.above)):
        assert shape.function(x) == pytest.approx(slope * x + offset, abs=1e-9)


@pytest.mark.parametrize("name", act_fit.SHAPES)
def test_the_committed_table_is_close_to_the_function(name: str) -> None:
    x = X.astype(np.float16)
    y = act_fit.piecewise(x.view(np.uint16), act_table(name)).view(np.float16).astype(np.float64)
    wanted = np.array([act_fit.SHAPES[name].function(float(v)) for v in x])
    assert np.abs(y - wanted).max() < 0.02
