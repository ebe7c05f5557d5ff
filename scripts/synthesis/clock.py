"""The estimated clock in device files (`[clock_estimate]`), held to the slowest stage of a table and written from it."""

from __future__ import annotations

import math
import re

_TABLE = re.compile(r"(?ms)^\[clock_estimate\][^\n]*\n(.*?)(?=^\[|^$|\Z)")


def table_of(device: str) -> str:
    """Return how the source of an estimate ends that is from the table of a device."""
    return f" on {device}, by scripts/synthesis"


def mhz(ns: float) -> int:
    """Return the clock of a slowest stage, rounded down."""
    return math.floor(1000 / ns)


def estimate(ns: float, where: str, device: str) -> str:
    """Return the lines of a device file. ns, where: the slowest stage and its unit; device: whose table says so."""
    return f'mhz = {mhz(ns)}\nsource = "{where}, {ns:.2f} ns{table_of(device)}"\n'


def with_estimate(text: str, lines: str) -> str:
    """Return a device file's text with these lines in its `[clock_estimate]`; unchanged if it has none."""
    found = _TABLE.search(text)
    return text if found is None else text[: found.start(1)] + lines + text[found.end(1) :]
