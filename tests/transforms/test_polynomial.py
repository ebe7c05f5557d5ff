"""Normal forms that are compared but for rounding of their numbers."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from fleet.transforms.raising import polynomial as p

X: p.Poly = {((p.X, 1.0),): 1.0}


def of(name: str, inner: p.Poly, exponent: float = 1.0, scale: float = 1.0) -> p.Poly:
    return {((("fn", name, p.key(inner)), exponent),): scale}


def scaled(factor: float) -> p.Poly:
    return {m: c * factor for m, c in X.items()}


def test_a_function_of_nearly_the_same_is_close() -> None:
    assert p.close(of("exp", X), of("exp", scaled(1 + 1e-9)), 1e-6)
    assert not p.close(of("exp", X), of("exp", scaled(1 + 1e-3)), 1e-6)


def test_two_functions_are_never_close_whatever_they_are_of() -> None:
    assert not p.close(of("exp", X), of("tanh", X), 1e-6)
    assert not p.close(of("exp", X), of("tanh", scaled(1 + 1e-9)), 1e-6), "nearly the same inside"


def test_exponents_and_factors_count() -> None:
    assert not p.close(of("exp", X), of("exp", X, exponent=2.0), 1e-6)
    assert not p.close(of("exp", X), of("exp", X, scale=1.01), 1e-6)
    assert p.close(of("exp", X), of("exp", X, scale=1 + 1e-9), 1e-6)


NUMBERS = st.floats(-1e30, 1e30, allow_nan=False).filter(lambda v: v != 0)
POLYNOMIALS = st.dictionaries(
    st.sampled_from([((p.X, 1.0),), ((p.X, 2.0),), ((("fn", "exp", p.key(X)), 1.0),), ()]), NUMBERS, max_size=4
)


@given(POLYNOMIALS, POLYNOMIALS)
def test_a_sum_does_not_depend_on_the_order_of_its_terms(one: p.Poly, two: p.Poly) -> None:
    assert p.key(p.add(one, two)) == p.key(p.add(two, one))
