"""Freed memory stays with the process: a comparison makes and drops arrays of the same few sizes all the time.

The GNU C library gives an array of more than 128 KB a mapping of its own at first, and the system fills that with zeros page by
page; for arrays of a few MB that takes longer than the arithmetic. The library raises the limit as it sees larger arrays freed, up
to 32 MB; here it begins with that.
"""

from __future__ import annotations

import ctypes
from functools import lru_cache

_TRIM_THRESHOLD, _MMAP_THRESHOLD = -1, -3
_LARGEST = 32 << 20
"""The largest limit that the library sets by itself, in bytes; it keeps twice as much at the heap's end."""


@lru_cache(maxsize=1)
def keep_freed_memory() -> bool:
    """Set the limits, once in a process. Return whether the C library took them; another library is left as it is."""
    try:
        mallopt = ctypes.CDLL(None).mallopt
    except (OSError, AttributeError):
        return False
    mallopt.argtypes, mallopt.restype = (ctypes.c_int, ctypes.c_int), ctypes.c_int
    return bool(mallopt(_MMAP_THRESHOLD, _LARGEST) and mallopt(_TRIM_THRESHOLD, 2 * _LARGEST))
