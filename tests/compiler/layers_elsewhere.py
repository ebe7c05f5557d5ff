"""Functions of another file than the one that is compiled."""

import numpy as np

SCALE = np.full(3, 2.0)
EPS = 1e-5


def scaled(x):
    return x * SCALE + EPS


def wrong(x):
    return x + missing  # noqa: F821
