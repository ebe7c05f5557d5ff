"""How far a sum of products in binary64 may be from the exact one (docs/arithmetic.md). NumPy and compiled code share it."""

from __future__ import annotations

LARGEST_CODE = 7
EXACT_UNITS = 2.0**53 - 2.0**10
"""A sum whose terms' magnitudes add up to no more of their common units is exact in binary64. The difference to 2^53 is what the
estimate of these magnitudes, itself in binary64, may lack."""


def sum_error(terms: int) -> float:
    """Return the largest error of a sum of so many products, relative to the sum of their magnitudes.

    A product is rounded at most once when it is made and once in each addition that it takes part in: at most as many as there are
    terms, one term or one block of terms being added at a time, each time by 2^-53. The other 4 cover the merging of up to four
    chains (`kernel/_dots.py`), what is of second order, and the roundings of the bound itself.
    """
    return (terms + 5) * 2.0**-53
