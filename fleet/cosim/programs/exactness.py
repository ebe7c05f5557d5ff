"""Functions whose last digit may differ between golden and CPython, each with its reason; everything else agrees in every bit."""

from __future__ import annotations

import re
from collections.abc import Mapping

__all__ = ["ROUGH", "is_rough", "table"]

_STEPS = "composed of other functions: every step rounds"

ROUGH: Mapping[str, tuple[int, str]] = {
    "log2": (1, _STEPS),
    "log10": (1, _STEPS),
    "exp2": (1, _STEPS),
    "sinh": (1, _STEPS),
    "cosh": (1, _STEPS),
    "tan": (1, _STEPS),
    "hypot": (1, _STEPS),
    "logaddexp": (1, _STEPS),
}
"""Name -> how many units in the last place, and why. Programs return such values as they are and compute nothing with them."""

_CALL = re.compile(r"np\.(?:linalg\.)?(" + "|".join(ROUGH) + r")\(")


def is_rough(text: str) -> bool:
    """Whether one of the functions is called in an expression."""
    return _CALL.search(text) is not None


def table() -> str:
    """The functions as a table of Markdown."""
    rows = ["| function | ulp | reason |", "|---|---|---|"]
    return "\n".join([*rows, *(f"| `np.{name}` | {ulp} | {why} |" for name, (ulp, why) in ROUGH.items())])


if __name__ == "__main__":
    print(table())
