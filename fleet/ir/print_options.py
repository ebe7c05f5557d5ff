"""Options under which a `print` shows arrays: those of `numpy.set_printoptions`, as JSON."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

import numpy as np

from fleet.errors import ModelError

__all__ = ["OPTIONS", "read_options"]

OPTIONS: Mapping[str, type | tuple[type, ...]] = {
    "precision": int, "threshold": (int, float), "edgeitems": int, "linewidth": int, "suppress": bool, "nanstr": str, "infstr": str,
    "sign": str, "floatmode": str,
}  # fmt: skip
"""Options of `numpy.set_printoptions` that a print may have, and their types."""


def read_options(text: str) -> dict[str, Any]:
    """Options from JSON. Raises ModelError for what `numpy.printoptions` does not take."""
    try:
        found: Any = json.loads(text)
        if not isinstance(found, dict) or not all(isinstance(v, OPTIONS.get(k, ())) for k, v in found.items()):  # pyright: ignore[reportUnknownVariableType, reportUnknownArgumentType]
            raise ValueError("unknown options")
        with np.printoptions(**found):
            return found  # pyright: ignore[reportUnknownVariableType]
    except (ValueError, TypeError) as error:
        raise ModelError(f"the print options {text[:200]!r}: {error}") from error
