"""Subscripts made explicit give what NumPy gives for the ones as written."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from fleet.ir.operations.einsum import canonical, result_shape
from fleet.ir.shapes import InferenceError

TERM = st.tuples(st.text("abcZ", max_size=3), st.booleans(), st.text("ab", max_size=1)).map(
    lambda t: t[0] + ("..." if t[1] else "") + t[2]
)


@settings(deadline=None, max_examples=400)
@given(st.lists(TERM, min_size=1, max_size=3), st.one_of(st.none(), TERM), st.integers(0, 2), st.booleans())
def test_explicit_subscripts_are_numpys(terms, right, dots, one) -> None:
    sizes = dict(zip("abcZ", (2, 3, 1 if one else 2, 4), strict=True))
    shapes = [
        tuple(d for part in (t.partition("...") if "..." in t else (t, "", "")) for d in
              ((2, 3)[:dots] if part == "..." else [sizes[c] for c in part]))
        for t in terms
    ]  # fmt: skip
    arrays = [np.arange(np.prod(s), dtype=np.float64).reshape(s) + 1 for s in shapes]
    text = " , ".join(terms) + ("" if right is None else f" -> {right}")
    try:
        wanted = np.einsum(text, *arrays)
    except ValueError:
        with pytest.raises(InferenceError):
            result_shape(canonical(text, [a.ndim for a in arrays]), shapes)
        return
    explicit = canonical(text, [a.ndim for a in arrays])
    np.testing.assert_array_equal(np.einsum(explicit, *arrays), wanted)
    assert result_shape(explicit, shapes) == wanted.shape


def test_a_dimension_of_one_stretches() -> None:
    assert result_shape("ij,jk->ijk", [(2, 1), (3, 4)]) == np.einsum("ij,jk->ijk", np.ones((2, 1)), np.ones((3, 4))).shape


@pytest.mark.parametrize(("text", "ranks"), [("ij", [2, 2]), ("ij...", [1]), ("ij,j", [2]), ("...->i", [1])])
def test_what_numpy_refuses_is_refused(text, ranks) -> None:
    with pytest.raises(ValueError):  # noqa: PT011 - NumPy's own message
        np.einsum(text, *(np.ones((2,) * r) for r in ranks))
    with pytest.raises(InferenceError, match="einsum"):
        result_shape(canonical(text, ranks), [(2,) * r for r in ranks])
