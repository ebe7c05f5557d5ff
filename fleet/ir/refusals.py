"""NumPy's own exceptions for refused operations, which a `try` in a source may catch."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np
from xdsl.ir import Attribute

from fleet.ir.dialect import OPERATIONS
from fleet.ir.types import Attributes, is_tensor, numpy_dtype, shape_of

_MOST = 1 << 20
"""Limit of elements for operands created to query NumPy."""


def refusal(name: str, types: Sequence[Attribute], attributes: Attributes) -> Exception | None:
    """Return the exception that NumPy raises for operands of these types; None if it accepts them or cannot be queried."""
    shapes = [shape_of(t) if is_tensor(t) else () for t in types]
    if any(n < 0 for shape in shapes for n in shape) or sum(map(math.prod, shapes)) > _MOST:
        return None
    record = OPERATIONS[name]
    arrays = [np.zeros(shape, numpy_dtype(t)) for shape, t in zip(shapes, types, strict=True)]
    try:
        record.compute(arrays, record.completed(attributes, len(arrays)))
    except (ValueError, IndexError) as error:
        return error
    except Exception:  # a rule of the IR only
        return None
    return None
