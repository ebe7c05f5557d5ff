from __future__ import annotations

import math

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from same_results import assert_close, passed
from spelled import kinds, the, trace

from fleet.ir.operations.operation import attributes_of
from fleet.transforms.raising.explain import explain

C = math.sqrt(2 / math.pi)

GELUS = {
    "gpt-2": lambda m, x: 0.5 * x * (1 + m.tanh(m.sqrt(2 / m.pi) * (x + 0.044715 * x**3))),
    "plain numbers": lambda m, x: 0.5 * x * (1 + m.tanh(C * (x + 0.044715 * x * x * x))),
    "cube by np.power": lambda m, x: x * 0.5 * (m.tanh((x + m.power(x, 3) * 0.044715) * C) + 1),
    "x factored out": lambda m, x: 0.5 * x * (1.0 + m.tanh(C * x * (1 + 0.044715 * x * x))),
    "halved last": lambda m, x: x * (1 + m.tanh(C * (x + 0.044715 * x**3))) / 2,
    "halves added": lambda m, x: 0.5 * x + 0.5 * x * m.tanh(C * (x + 0.044715 * x**3)),
    "constants of the array's dtype": lambda m, x: (
        x.dtype.type(0.5) * x * (x.dtype.type(1) + m.tanh(x.dtype.type(C) * (x + x.dtype.type(0.044715) * x * x * x)))
    ),
    "minus a minus": lambda m, x: 0.5 * x * (1 - m.tanh(-C * (x + 0.044715 * x**3))),
}


@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("name", GELUS)
def test_gelu_by_tanh(name: str, dtype: str) -> None:
    before = trace(GELUS[name], x=(4, 8), dtype=dtype)
    after = passed(before)
    assert [k for k in kinds(after) if k != "cast"] == ["gelu"]
    assert attributes_of(the(after, "gelu"))["approximate"] == "tanh"
    assert_close(before, after, GELUS[name])


def erf(m, x):
    return m.call("erf", x)


ERF_GELUS = {
    "over the root": lambda m, x: 0.5 * x * (1 + erf(m, x / m.sqrt(2.0))),
    "times the root of a half": lambda m, x: x * (erf(m, x * 0.7071067811865476) + 1.0) * 0.5,
    "reciprocal": lambda m, x: x * 0.5 * (1.0 + erf(m, x * (1 / math.sqrt(2)))),
}


@pytest.mark.parametrize("name", ERF_GELUS)
def test_gelu_by_erf(name: str) -> None:
    before = trace(ERF_GELUS[name], x=(4, 8))
    after = passed(before)
    assert [k for k in kinds(after) if k != "cast"] == ["gelu"]
    assert attributes_of(the(after, "gelu"))["approximate"] == "erf"
    assert_close(before, after)


SIGMOIDS = {
    "falling": lambda m, x: 1 / (1 + m.exp(-x)),
    "power": lambda m, x: (m.exp(-x) + 1.0) ** -1,
    "subtracted": lambda m, x: 1.0 / (1.0 + m.exp(0.0 - x)),
    "rising": lambda m, x: m.exp(x) / (1 + m.exp(x)),
    "tanh": lambda m, x: 0.5 * (1 + m.tanh(x / 2)),
    "tanh, halves": lambda m, x: 0.5 + 0.5 * m.tanh(0.5 * x),
}


@pytest.mark.parametrize("name", SIGMOIDS)
def test_sigmoid_and_silu(name: str) -> None:
    sigmoid = SIGMOIDS[name]
    for model, kind in ((sigmoid, "sigmoid"), (lambda m, x: x * sigmoid(m, x), "silu"), (lambda m, x: sigmoid(m, x) * x, "silu")):
        before = trace(model, x=(4, 8))
        after = passed(before)
        assert kinds(after) == [kind]
        assert_close(before, after, model)


def test_silu_as_a_quotient_and_under_a_gate() -> None:
    def model(m, x, gate):
        return x / (1 + m.exp(-x)) * gate

    before = trace(model, x=(4, 8), gate=(4, 8))
    after = passed(before)
    assert kinds(after) == ["silu", "mul"]
    assert_close(before, after, model)


def test_quick_gelu_is_a_sigmoid_of_its_scaled_input() -> None:
    def model(m, x):
        return x * (1 / (1 + m.exp(-(1.702 * x))))

    before = trace(model, x=(4, 8))
    after = passed(before)
    assert sorted(kinds(after)) == ["mul", "mul", "sigmoid"]
    assert_close(before, after, model)


def test_a_sigmoid_that_others_use_stays_beside_the_silu() -> None:
    def model(m, x):
        s = 1 / (1 + m.exp(-x))
        return x * s, s

    before = trace(model, x=(4, 8))
    after = passed(before)
    assert sorted(kinds(after)) == ["sigmoid", "silu"]
    assert_close(before, after, model)


NEAR = {
    "0.044715 mistyped": lambda m, x: 0.5 * x * (1 + m.tanh(C * (x + 0.044751 * x**3))),
    "a square for the cube": lambda m, x: 0.5 * x * (1 + m.tanh(C * (x + 0.044715 * x**2))),
    "sqrt(1 / pi)": lambda m, x: 0.5 * x * (1 + m.tanh(math.sqrt(1 / math.pi) * (x + 0.044715 * x**3))),
    "a constant rounded to five digits": lambda m, x: 0.5 * x * (1 + m.tanh(0.79788 * (x + 0.044715 * x**3))),
    "the half is missing": lambda m, x: x * (1 + m.tanh(C * (x + 0.044715 * x**3))),
    "minus for plus": lambda m, x: 0.5 * x * (1 - m.tanh(C * (x + 0.044715 * x**3))),
    "another factor": lambda m, x: 0.5 * (x + 1) * (1 + m.tanh(C * (x + 0.044715 * x**3))),
    "erf of x": lambda m, x: 0.5 * x * (1 + erf(m, x)),
    "sigmoid with 2": lambda m, x: 1 / (2 + m.exp(-x)),
    "exp of x below": lambda m, x: x / (1 + m.exp(x)),
}


@pytest.mark.parametrize("name", NEAR)
def test_near_misses_stay(name: str) -> None:
    before = trace(NEAR[name], x=(4, 8))
    after = passed(before)
    assert not {"gelu", "silu"} & set(kinds(after))
    if name != "exp of x below":  # x sigmoid(-x)
        assert "sigmoid" not in kinds(after)


def test_a_wrong_constant_is_explained() -> None:
    (miss,) = explain(trace(NEAR["0.044715 mistyped"], x=(4, 8)))
    assert miss.idiom == "gelu tanh"
    assert "where the formula has" in miss.why
    assert miss.at.startswith("model.py:")


def test_float64_holds_constants_to_float64() -> None:
    rounded = lambda m, x: 0.5 * x * (1 + m.tanh(0.79788456 * (x + 0.044715 * x**3)))  # noqa: E731
    assert kinds(passed(trace(rounded, x=(4, 8), dtype="float32"))) == ["gelu"]
    assert "gelu" not in kinds(passed(trace(rounded, x=(4, 8), dtype="float64")))


@settings(max_examples=40, deadline=None)
@given(
    shape=st.lists(st.integers(1, 6), min_size=0, max_size=3).map(tuple),
    name=st.sampled_from(sorted(GELUS)),
    dtype=st.sampled_from(["float32", "float64"]),
    seed=st.integers(0, 1000),
)
def test_the_result_is_the_same_for_any_shape(shape: tuple[int, ...], name: str, dtype: str, seed: int) -> None:
    before = trace(GELUS[name], x=shape, dtype=dtype)
    after = passed(before)
    assert "gelu" in kinds(after)
    assert_close(before, after, seed=seed)


def test_what_is_fused_is_covered_once() -> None:
    before = trace(GELUS["gpt-2"], x=(2, 3))
    after = passed(before, "canonicalise,raise-activation,dce")
    gelu = the(after, "gelu")
    names = [op.properties["id"].data for op in before.operations() if op.name != "fleet.constant"]
    from fleet.ir.operations.composite import covered_ids

    assert list(covered_ids(gelu)) == names  # program order, the root last
    assert gelu.properties["id"].data == names[-1]
    assert {k: v for k, v in after.fates.items() if v.startswith("fused")} == dict.fromkeys(names[:-1], f"fused into {names[-1]}")
