"""Lambdas of another module, for test_jit_records."""

from __future__ import annotations

from collections.abc import Callable, Mapping

import numpy as np

TABLE: Mapping[str, Callable[[np.ndarray], np.ndarray]] = {"same": lambda x: x, "square": lambda x: x * x}


def times(n: int) -> Callable[..., np.ndarray]:
    """Return a function that knows n."""
    return lambda x, k=2: x * n + k
