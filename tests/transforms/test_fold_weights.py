from __future__ import annotations

from dataclasses import replace

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st
from same_results import assert_close, assert_same_bits, passed
from spelled import data, kinds, trace

from fleet.ir.weights import RandomStream, Weights

FOLD = "fold-weights,dce,drop-weights"
W = {"w": np.arange(12, dtype=np.float32).reshape(3, 4) - 5, "v": np.linspace(-1, 1, 4, dtype=np.float32)}


def test_what_weights_alone_decide_becomes_a_weight() -> None:
    def model(m, x, w, v):
        scaled = m.exp(w * 2.0 + v).T
        return x @ scaled + v[:3] * 2

    before = trace(model, W, x=(5, 4))
    after = passed(before, FOLD)
    assert kinds(after) == ["matmul", "add"]
    assert len(after.weights) == 2
    assert not {"w", "v"} & after.weights.keys()
    assert [a.name for a in after.arguments if a.kind == "weight"] == list(after.weights)
    assert_same_bits(before, after, data(before))
    assert_close(before, after, model)
    gone = {op.properties["id"].data for op in before.operations() if op.name != "fleet.constant"} & after.fates.keys()
    assert gone
    assert all("folded into" in after.fates[i] for i in gone)


def test_a_weight_that_is_used_as_it_is_stays() -> None:
    before = trace(lambda m, x, w, v: (x @ w.T) @ w + (x @ (w * v).T) @ w, W, x=(5, 4))
    after = passed(before, FOLD)
    assert "w" in after.weights
    assert kinds(after).count("transpose") == 1  # of w itself, which stays: no second copy
    assert "v" not in after.weights
    assert_same_bits(before, after, data(before))


def test_nothing_is_drawn_or_computed_until_it_is_asked_for() -> None:
    before = trace(lambda m, x, w, v: x @ (w * v).T, W, x=(5, 4))
    stream = RandomStream("RandomState", 3)
    w = stream.draw("randn", (3, 4), {}, (3, 4), np.dtype(np.float64))
    before = replace(before, weights=Weights({"w": W["w"], "v": W["v"]}))
    after = passed(before, FOLD)
    assert isinstance(after.weights, Weights)
    (name,) = after.weights
    assert not after.weights.made(name)
    assert len(after.hash) == 64
    assert not after.weights.made(name)
    np.testing.assert_array_equal(after.weights[name], (W["w"] * W["v"]).T)
    assert not w.made


def test_the_hash_follows_the_values_and_the_expression() -> None:
    def folded(factor: float, first: float) -> str:
        w = W["w"].copy()
        w[0, 0] = first
        return passed(trace(lambda m, x, w: x @ (w * factor).T, {"w": w}, x=(5, 4)), FOLD).hash

    assert len({folded(2.0, 1.0), folded(3.0, 1.0), folded(2.0, 7.0)}) == 3
    assert folded(2.0, 1.0) == folded(2.0, 1.0)


def test_the_hash_follows_the_attributes() -> None:
    """Two halves of one weight are two weights: who keeps anything by a weight's hash would take one for the other."""
    before = trace(lambda m, x, w, v: (x @ (w[:2] * 2.0).T, x @ (w[1:] * 2.0).T, x @ (w[:2] * 2.0).T), W, x=(5, 4))
    after = passed(before, FOLD)
    assert isinstance(after.weights, Weights)
    assert len({after.weights.digest(name) for name in after.weights}) == 2
    assert_same_bits(before, after, data(before))


def test_a_weight_is_not_blown_up() -> None:
    def model(m, x, w):
        return x + m.call("broadcast_to", w, shape=[400, 400])

    before = trace(model, {"w": np.ones((1, 1), np.float32)}, x=(400, 400))
    after = passed(before, FOLD)
    assert kinds(after) == ["broadcast_to", "add"]
    assert_same_bits(before, after, data(before))


def test_a_script_whose_arrays_are_all_known_stays_a_program() -> None:
    def model(m, w, v):
        h = m.exp(w @ w.T) * v[:3]
        return h / h.sum(-1, keepdims=True)

    before = trace(model, W)
    assert kinds(passed(before, FOLD)) == ["transpose", "matmul", "exp", "mul", "reduce_sum", "div"]


def test_what_is_returned_or_printed_as_it_is() -> None:
    def model(m, x, w, v):
        m.print(w + v)
        return w * v, x

    before = trace(model, W, x=(5, 4))
    after = passed(before, FOLD)
    assert_same_bits(before, after, data(before))


@settings(max_examples=40, deadline=None)
@given(st.data())
def test_random_expressions(draw: st.DataObject) -> None:
    def model(m, x, w, v):
        values = [w, v * 1.0, x]
        for _ in range(draw.draw(st.integers(1, 8))):
            a, b = (values[draw.draw(st.integers(0, len(values) - 1))] for _ in range(2))
            values.append(draw.draw(st.sampled_from([lambda a, b: a + b, lambda a, b: a * b, lambda a, b: m.tanh(a) - b]))(a, b))
        return values[-1], values[-2]

    before = trace(model, W, x=(3, 4))
    assert_same_bits(before, passed(before, FOLD), data(before))
