"""Modules of libraries as they are installed: what they have, whatever of it is followed."""

from __future__ import annotations

import cmath
import math
from collections.abc import Mapping
from types import ModuleType

import numpy as np

INSTALLED: Mapping[str, ModuleType] = {"numpy": np, "math": math, "cmath": cmath}
"""Name -> the module."""


def exists(path: str) -> bool:
    """Return whether a dotted path that begins with one of them leads to an attribute."""
    root, *names = path.split(".")
    found: object = INSTALLED[root]
    for name in names:
        found = getattr(found, name, None)
    return found is not None
