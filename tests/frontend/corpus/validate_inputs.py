# normalise(x: float64[5, 3])
import numpy as np


def check(x, ndim=2):
    x = np.asarray(x, dtype=float)
    if x.ndim != ndim:
        raise ValueError(f"expected {ndim} dimensions, got {x.ndim}")
    return x


def normalise(x):
    try:
        x = check(x)
    except ValueError as e:
        print("error:", e)
        x = x.reshape(-1, 1)
    try:
        check(x[0])
    except ValueError as e:
        print("as expected:", e)
    finally:
        print("checked")
    lo, hi = x.min(axis=0), x.max(axis=0)
    span = np.where(hi - lo == 0, 1, hi - lo)
    return (x - lo) / span
