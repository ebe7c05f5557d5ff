from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from same_results import RAISE, assert_close, passed
from spelled import kinds, the, trace

from fleet.ir.operations.operation import attributes_of

FUSE = RAISE.replace("dce", "fuse-linear,dce")
C = math.sqrt(2 / math.pi)
ACTIVATIONS = {
    "none": lambda m, x: x,
    "relu": lambda m, x: m.maximum(x, 0),
    "silu": lambda m, x: x / (1 + m.exp(-x)),
    "gelu_tanh": lambda m, x: 0.5 * x * (1 + m.tanh(C * (x + 0.044715 * x**3))),
}


def weights(inputs: int = 4, outputs: int = 3) -> dict[str, np.ndarray]:
    rng = np.random.default_rng(1)
    return {"w": rng.standard_normal((inputs, outputs)).astype("f4"), "b": rng.standard_normal(outputs).astype("f4")}


@settings(max_examples=60, deadline=None)
@given(
    n=st.integers(1, 5),
    inputs=st.integers(1, 6),
    outputs=st.integers(1, 6),
    activation=st.sampled_from(sorted(ACTIVATIONS)),
    bias=st.booleans(),
    residual=st.booleans(),
    swapped=st.booleans(),
)
def test_all_forms(n: int, inputs: int, outputs: int, activation: str, bias: bool, residual: bool, swapped: bool) -> None:
    def plus(a, b):
        return b + a if swapped else a + b

    def model(m, x, r, w, b):
        y = plus(x @ w, b) if bias else x @ w
        y = ACTIVATIONS[activation](m, y)
        return plus(y, r) if residual else y

    before = trace(model, weights(inputs, outputs), x=(n, inputs), r=(n, outputs))
    after = passed(before, FUSE)
    if not bias and not residual and activation == "none":
        assert kinds(after) == ["matmul"]
    else:
        assert kinds(after) == ["linear"]
        a = attributes_of(the(after, "linear"))
        if n > 1 or bias:  # one row: a residual may as well be a bias
            assert (a["bias"], a["residual"], a["activation"]) == (bias, residual, activation)
    assert_close(before, after, model)


STAYS = {
    "a product that others use too": (lambda m, x, w, b: (x @ w + b, m.exp(x @ w)), ["matmul", "add", "exp"]),
    "a product of two inputs": (lambda m, x, w, b: (x @ x.T) + 1.0, ["transpose", "matmul", "add"]),
    "another maximum": (lambda m, x, w, b: m.maximum(x @ w, 1.0), ["matmul", "maximum"]),
    "a number is no bias": (lambda m, x, w, b: x @ w + 1.0, ["matmul", "add"]),
    "a bias after the activation": (lambda m, x, w, b: m.maximum(x @ w, 0) + b, ["linear", "add"]),
    "two activations": (lambda m, x, w, b: m.tanh(m.maximum(x @ w + b, 0)), ["linear", "tanh"]),
    "a column is no bias": (lambda m, x, w, b: x @ w + x[:, :1], ["slice", "matmul", "add"]),
}


@pytest.mark.parametrize("name", STAYS)
def test_what_does_not_fit_stays(name: str) -> None:
    model, expected = STAYS[name]
    before = trace(model, weights(), x=(5, 4))
    after = passed(before, FUSE)
    assert sorted(kinds(after)) == sorted(expected)
    assert_close(before, after, model)


def test_a_weight_that_is_stored_transposed() -> None:
    before = trace(lambda m, x, w, b: x @ w.T + b[:4].reshape(1, -1)[0, :1], {**weights()}, x=(5, 3))
    after = passed(before, FUSE)
    assert "linear" in kinds(after)
    assert_close(before, after)
