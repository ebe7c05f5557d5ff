"""Limit of memory for arrays: requests are checked against it before anything is allocated or read.

The limit is half of the machine's available memory, or what FLEET_MEMORY says ("6G", "500M", bytes). An archive may unpack to 64
times its own size (at least 1 GiB) unless FLEET_MEMORY allows more: a few megabytes of zeros are no weights.
"""

from __future__ import annotations

import math
import os
import re
from collections.abc import Sequence
from pathlib import Path

import numpy as np

from fleet.errors import ModelError

_UNITS = {"": 1, "K": 2**10, "M": 2**20, "G": 2**30, "T": 2**40}
_HINT = "make it smaller, or set FLEET_MEMORY (6G, say) where the machine has more"


def limit() -> int:
    """Bytes. Raises ModelError where FLEET_MEMORY is no size."""
    stated = os.environ.get("FLEET_MEMORY", "")
    if stated:
        found = re.fullmatch(r"(\d+)\s*([KMGT]?)(?:i?B)?", stated.strip(), re.IGNORECASE)
        if found is None:
            raise ModelError(f"FLEET_MEMORY is {stated!r}", hint="give bytes, or a number with K, M, G or T")
        return int(found[1]) * _UNITS[found[2].upper()]
    try:
        meminfo = Path("/proc/meminfo").read_text(encoding="ascii")
    except OSError:
        return 4 * 2**30
    available = re.search(r"^MemAvailable:\s+(\d+) kB", meminfo, re.MULTILINE)
    return int(available[1]) * 512 if available else 4 * 2**30


def archive_limit(stored: int) -> int:
    """Bytes to which an archive of `stored` bytes may unpack."""
    return limit() if os.environ.get("FLEET_MEMORY") else min(limit(), max(2**30, 64 * stored))


def bytes_of(shape: Sequence[int], dtype: np.dtype) -> int:
    """Bytes of an array of any size."""
    return math.prod(int(n) for n in shape) * dtype.itemsize


def check_room(size: int, what: str, *, where: str | None = None, most: int | None = None) -> None:
    """Raise ModelError if `size` bytes are more than `most` (default: `limit()`). what: "input x, float32[4, 2]"."""
    most = limit() if most is None else most
    if size > most:
        raise ModelError(f"{what} needs {size:,} bytes; the limit is {most:,}", where=where, hint=_HINT)
