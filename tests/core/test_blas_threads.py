"""The number of BLAS threads is one inside, and what it was outside."""

from __future__ import annotations

import numpy as np
import pytest

from fleet.core import blas_threads


def test_one_inside_and_as_before_outside() -> None:
    np.testing.assert_array_equal(np.ones((2, 2)) @ np.ones((2, 2)), 2)
    found = blas_threads._functions()  # pyright: ignore[reportPrivateUsage]
    if found is None:
        pytest.skip("NumPy has no OpenBLAS here")
    get, put = found
    first = get()
    put(2)
    try:
        with blas_threads.one_thread():
            assert get() == 1
        assert get() == 2
        with pytest.raises(KeyError), blas_threads.one_thread():
            raise KeyError
        assert get() == 2
    finally:
        put(first)


def test_without_openblas_nothing_happens(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(blas_threads, "_functions", lambda: None)
    with blas_threads.one_thread():
        assert (np.eye(2) @ np.eye(2) == np.eye(2)).all()
