from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from same_results import assert_close, passed
from spelled import kinds, the, trace

from fleet.ir.operations.operation import attributes_of
from fleet.transforms.raising.explain import explain


def stable(m, x, axis=-1):
    e = m.exp(x - m.max(x, axis=axis, keepdims=True))
    return e / m.sum(e, axis=axis, keepdims=True)


SOFTMAXES = {
    "stable": stable,
    "plain": lambda m, x: m.exp(x) / m.sum(m.exp(x), axis=-1, keepdims=True),
    "methods": lambda m, x: m.exp(x - x.max(-1, keepdims=True)) / m.exp(x - x.max(-1, keepdims=True)).sum(-1, keepdims=True),
    "times the reciprocal": lambda m, x: m.exp(x) * (1.0 / m.exp(x).sum(axis=1, keepdims=True)),
    "power": lambda m, x: m.exp(x) * m.exp(x).sum(axis=1, keepdims=True) ** -1,
    "lost axes put back": lambda m, x: m.exp(x - x.max(-1)[:, None]) / m.exp(x - x.max(-1)[:, None]).sum(-1)[:, None],
    "mean times n": lambda m, x: m.exp(x) / (m.exp(x).mean(-1, keepdims=True) * x.shape[-1]),
}


@pytest.mark.parametrize("name", SOFTMAXES)
def test_a_softmax_is_found_however_it_is_spelled(name: str) -> None:
    before = trace(SOFTMAXES[name], x=(4, 8))
    after = passed(before)
    assert kinds(after) == ["softmax"]
    assert attributes_of(the(after, "softmax"))["axis"] == 1
    assert_close(before, after, SOFTMAXES[name])


@settings(max_examples=30, deadline=None)
@given(shape=st.lists(st.integers(1, 6), min_size=1, max_size=4).map(tuple), data=st.data(), seed=st.integers(0, 99))
def test_any_axis_of_any_shape(shape: tuple[int, ...], data: st.DataObject, seed: int) -> None:
    axis = data.draw(st.integers(-len(shape), len(shape) - 1))
    before = trace(lambda m, x: stable(m, x, axis), x=shape)
    after = passed(before)
    assert kinds(after) == ["softmax"]
    assert attributes_of(the(after, "softmax"))["axis"] == axis % len(shape)
    assert_close(before, after, lambda m, x: stable(m, x, axis), seed=seed)


def test_the_maximum_of_something_else_stays_outside() -> None:
    def model(m, x, y):
        e = m.exp(x - m.max(y, -1, keepdims=True))
        return e / m.sum(e, -1, keepdims=True)

    before = trace(model, x=(4, 8), y=(4, 8))
    after = passed(before)
    assert kinds(after) == ["reduce_max", "sub", "softmax"]
    assert_close(before, after, model)


NEAR = {
    "two axes": (lambda m, x: m.exp(x) / m.exp(x).sum((0, 1), keepdims=True), "2 axes"),
    "another divisor": (lambda m, x: m.exp(x) / m.exp(x).mean(-1, keepdims=True), "times what it divides by"),
    "the sum of x": (lambda m, x: m.exp(x) / x.sum(-1, keepdims=True), None),
    "a number beside the sum": (lambda m, x: m.exp(x) / (m.exp(x).sum(-1, keepdims=True) + 1e-9), None),
    "two exponentials": (lambda m, x: m.exp(x) / m.exp(2 * x).sum(-1, keepdims=True), None),
    "the sum without its axis": (lambda m, x: m.exp(x) / m.exp(x).sum(-1), None),
}


@pytest.mark.parametrize("name", NEAR)
def test_near_misses_stay_and_are_explained(name: str) -> None:
    model, why = NEAR[name]
    before = trace(model, x=(4, 4))
    after = passed(before)
    assert "softmax" not in kinds(after)
    if why:
        assert any(why in miss.why and miss.idiom == "softmax" for miss in explain(before))
