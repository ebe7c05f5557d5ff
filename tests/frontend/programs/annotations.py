from __future__ import annotations
import numpy as np
import numpy.typing as npt

SIZE: int = 3
later: float

def f(x: npt.NDArray[np.float64], n: int = 2) -> np.ndarray:
    """Says what it does."""
    y: np.ndarray = x * n
    return y

print(f(np.ones(SIZE)))
