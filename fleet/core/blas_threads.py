"""One thread for NumPy's products: while a token is computed, and while traces are compared.

A product of one row takes a tenth of a millisecond, less than it takes threads to wait for each other on a machine that others use
too: there a token takes 50 times as long with two threads as with one. It also keeps the bits the same on every machine.
OpenBLAS's threads spin for some 25 ms after each product before they sleep: products of a millisecond each among other work keep
every processor busy all the time (the comparison of a CNN took three times the processor time of one thread).
"""

from __future__ import annotations

import ctypes
from collections.abc import Generator
from contextlib import contextmanager
from functools import cache
from pathlib import Path
from typing import Any

_NAMES = (
    "scipy_openblas_{}_num_threads64_",
    "scipy_openblas_{}_num_threads",
    "openblas_{}_num_threads64_",
    "openblas_{}_num_threads",
)


@cache
def _functions() -> tuple[Any, Any] | None:
    """(get, set) of the OpenBLAS that NumPy has loaded; None where it uses another library."""
    try:
        lines = Path("/proc/self/maps").read_text().splitlines()
    except OSError:
        return None
    for path in dict.fromkeys(line.split()[-1] for line in lines if "openblas" in line):
        try:
            library = ctypes.CDLL(path)
        except OSError:
            continue
        for name in _NAMES:
            get, put = (getattr(library, name.format(what), None) for what in ("get", "set"))
            if get is not None and put is not None:
                get.restype, put.argtypes, put.restype = ctypes.c_int, [ctypes.c_int], None
                return get, put
    return None


@contextmanager
def one_thread() -> Generator[None]:
    """OpenBLAS computes in the caller's thread; afterwards as before. Does nothing where NumPy has no OpenBLAS."""
    found = _functions()
    if found is None:
        yield
        return
    get, put = found
    before = get()
    put(1)
    try:
        yield
    finally:
        put(before)
