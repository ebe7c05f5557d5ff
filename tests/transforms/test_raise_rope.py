from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from same_results import assert_close, passed
from spelled import kinds, the, trace

from fleet.ir.operations.operation import attributes_of
from fleet.transforms.raising.explain import explain


def halves(m, x, c, s):
    d = x.shape[-1] // 2
    a, b = x[..., :d], x[..., d:]
    return m.concatenate([a * c - b * s, a * s + b * c], axis=-1)


def halves_in_another_order(m, x, c, s):
    d = x.shape[-1] // 2
    a, b = x[..., :d], x[..., d:]
    return m.concatenate([c * a + (-b) * s, c * b + s * a], axis=-1)


def pairs(m, x, c, s):
    a, b = x[..., 0::2], x[..., 1::2]
    return m.stack([a * c - b * s, b * c + a * s], axis=-1).reshape(x.shape)


def pairs_by_reshape(m, x, c, s):
    a, b = x[..., 0::2], x[..., 1::2]
    new = (*a.shape, 1)
    return m.concatenate([(a * c - b * s).reshape(new), (a * s + b * c).reshape(new)], axis=-1).reshape(x.shape)


def rotated(m, x, c, s):
    d = x.shape[-1] // 2
    cos, sin = m.concatenate([c, c], axis=-1), m.concatenate([s, s], axis=-1)
    return x * cos + m.concatenate([-x[..., d:], x[..., :d]], axis=-1) * sin


MODELS = {f.__name__: f for f in (halves, halves_in_another_order, pairs, pairs_by_reshape, rotated)}


@settings(max_examples=60, deadline=None)
@given(
    lead=st.lists(st.integers(1, 4), min_size=1, max_size=2).map(tuple),
    half=st.integers(2, 5),
    name=st.sampled_from(sorted(MODELS)),
    flat=st.booleans(),
    seed=st.integers(0, 99),
)
def test_all_spellings_and_shapes(lead: tuple[int, ...], half: int, name: str, flat: bool, seed: int) -> None:
    model = MODELS[name]
    angles = (*lead[:-1], 1, half) if flat and len(lead) > 1 else (*lead, half)
    before = trace(model, x=(*lead, 2 * half), c=angles, s=angles)
    after = passed(before)
    assert kinds(after) == ["rope"]
    assert attributes_of(the(after, "rope"))["interleaved"] is name.startswith("pairs")
    assert_close(before, after, model, seed=seed)


def test_angles_that_are_computed_twice_over() -> None:
    def model(m, x, f):
        d = x.shape[-1] // 2
        wide = m.concatenate([f, f], axis=-1)
        return x * m.cos(wide) + m.concatenate([-x[..., d:], x[..., :d]], axis=-1) * m.sin(wide)

    before = trace(model, x=(5, 8), f=(5, 4))
    after = passed(before)
    assert "rope" in kinds(after)
    assert_close(before, after, model)


def test_angles_that_are_weights() -> None:
    angle = np.outer(np.arange(5), 10.0 ** -np.arange(4)).astype(np.float32)
    wide = np.concatenate([angle, angle], -1)

    def model(m, x, c, s):
        return x * c + m.concatenate([-x[..., 4:], x[..., :4]], axis=-1) * s

    before = trace(model, {"c": np.cos(wide), "s": np.sin(wide)}, x=(5, 8))
    after = passed(before)
    assert kinds(after) == ["slice", "slice", "rope"]
    assert_close(before, after, model)


NEAR = {
    "the other way round": (
        lambda m, x, c, s: m.concatenate([x[..., :4] * c + x[..., 4:] * s, x[..., 4:] * c - x[..., :4] * s], axis=-1), "other ways",
    ),
    "cos and sin exchanged below": (
        lambda m, x, c, s: m.concatenate([x[..., :4] * c - x[..., 4:] * s, x[..., 4:] * s + x[..., :4] * c], axis=-1), "other ways",
    ),
    "the first half negated": (
        lambda m, x, c, s: x * m.concatenate([c, c], axis=-1)
        + m.concatenate([x[..., 4:], -x[..., :4]], axis=-1) * m.concatenate([s, s], axis=-1),
        None,
    ),
    "halves of a cosine that differ": (
        lambda m, x, c, s: x * m.concatenate([c, s], axis=-1)
        + m.concatenate([-x[..., 4:], x[..., :4]], axis=-1) * m.concatenate([s, s], axis=-1),
        "not known to be alike",
    ),
    "unequal parts": (
        lambda m, x, c, s: m.concatenate([x[..., :4] * c - x[..., 3:7] * s, x[..., :4] * s + x[..., 3:7] * c], axis=-1), None,
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", NEAR)
def test_near_misses_stay(name: str) -> None:
    model, why = NEAR[name]
    before = trace(model, x=(5, 8), c=(5, 4), s=(5, 4))
    after = passed(before)
    assert "rope" not in kinds(after)
    if why:
        assert any(miss.idiom == "rope" and why in miss.why for miss in explain(before))
