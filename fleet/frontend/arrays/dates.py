"""NumPy's dates and spans of time (`datetime64`, `timedelta64`): known while the source is read, computed by NumPy."""

from __future__ import annotations

import ast
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from fleet.frontend.reading.evaluator import Evaluator
from fleet.frontend.reading.values import Library, Value

CLASSES: Mapping[str, type[np.datetime64 | np.timedelta64]] = {
    "numpy.datetime64": np.datetime64,
    "numpy.timedelta64": np.timedelta64,
}
FUNCTIONS: Mapping[str, tuple[int, ...]] = {
    **dict.fromkeys(CLASSES, ()),
    **{f"numpy.{n}": () for n in ("busday_count", "busday_offset", "is_busday", "datetime_as_string", "datetime_data")},
    "numpy.arange": (0, 1), "numpy.isnat": (), "numpy.isfinite": (), "numpy.linspace": (), "numpy.digitize": (0, 1),
    "numpy.full_like": (0, 1), "numpy.zeros_like": (), "numpy.empty_like": (), "numpy.ones_like": (), "numpy.insert": (0, 2),
    **{f"numpy.{n}": () for n in ("add", "subtract", "multiply", "divide", "floor_divide", "remainder", "negative", "sign",
                                  "less", "less_equal", "greater", "greater_equal", "equal", "not_equal", "logical_and",
                                  "array_equiv", "ediff1d", "nanmin", "nanmax", "amin", "amax", "fmax", "fmin", "percentile",
                                  "quantile", "can_cast", "broadcast_to", "bincount", "setxor1d")},
}  # fmt: skip
"""Function of NumPy -> its arguments that may be dates written as text; all functions take dates."""
ONLY = frozenset(f"numpy.{n}" for n in ("datetime64", "timedelta64", "busday_count", "busday_offset", "is_busday",
                                        "datetime_as_string", "datetime_data"))  # fmt: skip
"""Functions of dates alone."""
METHODS = frozenset({"min", "max", "mean", "argmin", "argmax", "cumsum", "prod", "std", "var", "ptp", "view", "tobytes", "byteswap",
                     "diagonal"})  # fmt: skip
_CLOCK = ("today", "now")


def check(ev: Evaluator, node: ast.AST, path: str, args: Sequence[Value]) -> None:
    """Refuse dates of the clock: such a run could not be compared. SourceError F507."""
    if path == "numpy.datetime64" and args and args[0] in _CLOCK:
        ev.fail("F507", node, f"np.datetime64({args[0]!r}) is another date in every run", "write the date")


def is_dates(dtype: np.dtype) -> bool:
    """Return whether a dtype is `datetime64` or `timedelta64`."""
    return dtype.kind in "mM"


def named(value: Value) -> bool:
    """Return whether a value is the class of dates or of spans."""
    return isinstance(value, Library) and value.path in CLASSES


def count(given: Sequence[Any], keywords: Mapping[str, Any]) -> int:
    """Elements of `np.arange` of dates; 0 where NumPy refuses it."""
    dtype = keywords.get("dtype", given[3] if len(given) > 3 else None)
    parts = [keywords.get(name, given[i] if i < len(given) else None) for i, name in enumerate(("start", "stop", "step"))]
    try:
        ends = [np.asarray(p, None if dtype is None else dtype) for p in parts[:2] if p is not None]
        common = np.result_type(*ends)
        first, last = ([0] * (2 - len(ends))) + [int(e.astype(common).astype(np.int64)) for e in ends]
        step = 1 if parts[2] is None else int(np.asarray(parts[2]).astype(common.str.replace("M8", "m8")).astype(np.int64))
        return max(-(-(last - first) // step), 0) if step else 0
    except (TypeError, ValueError, OverflowError):
        return 0
