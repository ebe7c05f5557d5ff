"""Factorisations in longdouble: their residuals are beyond float64, and what NumPy shapes they shape alike."""

from __future__ import annotations

import numpy as np
import pytest

from fleet.compare.judges.wide_linalg import WIDE
from fleet.errors import ComparisonFailure

RNG = np.random.default_rng(3)
EPS = float(np.finfo(np.longdouble).eps)
pytestmark = pytest.mark.skipif(np.finfo(np.longdouble).nmant <= 52, reason="longdouble is float64 here")


def matrix(*shape: int) -> np.ndarray:
    return RNG.standard_normal(shape).astype(np.longdouble)


@pytest.mark.parametrize(
    ("a", "b"), [((5, 5), (5,)), ((5, 5), (5, 2)), ((3, 4, 4), (3, 4, 2)), ((2, 1, 3, 3), (4, 3, 1)), ((1, 1), (1,))]
)
def test_solve(a: tuple[int, ...], b: tuple[int, ...]) -> None:
    left, right = matrix(*a), matrix(*b)
    x = WIDE["linalg.solve"](left, right)
    expected = np.linalg.solve(left.astype(float), right.astype(float))
    assert (x.dtype, x.shape) == (np.longdouble, expected.shape)
    np.testing.assert_allclose(x.astype(float), expected, rtol=1e-9)
    assert np.abs(left @ x - right).max() < 400 * EPS * np.abs(x).max() * np.abs(left).max()


def test_inv_det_and_cholesky() -> None:
    a = matrix(2, 6, 6)
    a[0, 0, 0] = 0  # a pivot that must be looked for
    inverse = WIDE["linalg.inv"](a)
    assert np.abs(a @ inverse - np.eye(6)).max() < 1e4 * EPS
    np.testing.assert_allclose(WIDE["linalg.det"](a).astype(float), np.linalg.det(a.astype(float)), rtol=1e-9)
    definite = a @ np.swapaxes(a, -1, -2)
    factor = WIDE["linalg.cholesky"](definite)
    assert np.abs(factor @ np.swapaxes(factor, -1, -2) - definite).max() < 1e3 * EPS * np.abs(definite).max()
    assert not np.triu(factor, 1).any()


def test_what_has_no_solution_or_is_too_large() -> None:
    singular = np.ones((2, 2), np.longdouble)
    assert np.isnan(WIDE["linalg.solve"](singular, np.ones(2, np.longdouble))).all()
    assert WIDE["linalg.det"](singular) == 0
    with pytest.raises(ComparisonFailure, match="at most 128 rows"):
        WIDE["linalg.inv"](np.eye(200, dtype=np.longdouble))
