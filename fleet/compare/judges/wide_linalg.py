"""NumPy's factorisations in longdouble, which LAPACK lacks: elimination with the largest pivot, Cholesky's rows.

They are references, not NumPy's order of operations: in longdouble the order is below what is asked.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping

import numpy as np

from fleet.compare.rules.steps import Array
from fleet.errors import ComparisonFailure

_MOST = 128
"""Largest matrix, by its rows: elimination takes Python's time."""


def _eliminated(a: Array, b: Array) -> tuple[Array, np.longdouble]:
    """The solution of one system and the determinant. a: [n, n]. b: [n, k]. A singular system: NaN, and 0."""
    a, b = a.copy(), b.copy()
    determinant = np.longdouble(1)
    for i in range(len(a)):
        pivot = i + int(np.argmax(np.abs(a[i:, i])))
        if pivot != i:
            a[[i, pivot]], b[[i, pivot]] = a[[pivot, i]], b[[pivot, i]]
            determinant = -determinant
        determinant *= a[i, i]
        if a[i, i] == 0:
            return np.full_like(b, np.nan), np.longdouble(0)
        factors = a[:, i] / a[i, i]
        factors[i] = 0
        a -= factors[:, None] * a[i]
        b -= factors[:, None] * b[i]
    return b / np.diagonal(a)[:, None], determinant


def _each(a: Array, compute: Callable[[tuple[int, ...]], Array]) -> Array:
    """Return the results of all matrices of a batch. Raises ComparisonFailure if they are not square, or larger than `_MOST`."""
    if a.ndim < 2 or a.shape[-1] != a.shape[-2] or a.shape[-1] > _MOST:
        what = f"a factorisation of {list(a.shape)} in longdouble is not supported: at most {_MOST} rows"
        raise ComparisonFailure(what, where="numpy.linalg")
    found = [compute(at) for at in np.ndindex(a.shape[:-2])]
    return np.array(found).reshape((*a.shape[:-2], *found[0].shape)) if found else np.zeros_like(a)


def _solve(a: Array, b: Array) -> Array:
    column = b[:, None] if b.ndim == 1 else b
    batch = np.broadcast_shapes(a.shape[:-2], column.shape[:-2])
    a, column = (np.broadcast_to(v, (*batch, *v.shape[-2:])) for v in (a, column))
    found = _each(a, lambda at: _eliminated(a[at], column[at])[0])
    return found[..., 0] if b.ndim == 1 else found


def _inv(a: Array) -> Array:
    return _each(a, lambda at: _eliminated(a[at], np.eye(a.shape[-1], dtype=a.dtype))[0])


def _det(a: Array) -> Array:
    return _each(a, lambda at: np.asarray(_eliminated(a[at], np.eye(a.shape[-1], dtype=a.dtype))[1]))


def _lower(a: Array) -> Array:
    factor = np.zeros_like(a)
    for j in range(len(a)):
        rest = a[j:, j] - factor[j:, :j] @ factor[j, :j]
        factor[j:, j] = rest / np.sqrt(rest[0])
    return factor


def _cholesky(a: Array) -> Array:
    return _each(a, lambda at: _lower(a[at]))


WIDE: Mapping[str, Callable[..., Array]] = {
    "linalg.solve": _solve, "linalg.inv": _inv, "linalg.det": _det, "linalg.cholesky": _cholesky,
}  # fmt: skip
"""NumPy's function -> the same in the dtype of its operands."""
