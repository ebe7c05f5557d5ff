"""Numbers and names as a reader sees them: filters of the templates, also used by the Markdown summary."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence

from fleet.cosim.result import ROUNDED

ABSENT = "–"
"""Stands for a missing figure; never for zero."""

SYMBOLS: Mapping[str, str] = {
    "pass": "✔ pass",
    "fail": "✘ fail",
    "not proved": "? not proved",
    "nothing compared": "✘ nothing compared",
    "info": "measured",
    "skipped": "skipped",
}


def engine_title(name: str) -> str:
    """Return the name of an engine in a page."""
    return "vm-rounded (weights as stored)" if name == ROUNDED else name


_NAMED = 4
"""Longest chain of operations that is listed completely."""


def operations(ops: Sequence[str], above: Sequence[str] | None = None) -> str:
    """Return the operations of an instruction: all of a few; for a fused chain its ends and their number.

    above: operations of the previous instruction; a ditto mark if they are the same.
    """
    if ops and above is not None and tuple(ops) == tuple(above):
        return "″"
    if len(ops) <= _NAMED:
        return ", ".join(ops)
    return f"{ops[0]} .. {ops[-1]} ({len(ops)} operations)"


def number(value: float | None, digits: int = 3) -> str:
    """Return a measured figure with `digits` significant digits; integers completely; exact infinities and NaN in words."""
    if value is None:
        return ABSENT
    if math.isnan(value):
        return "NaN"
    if math.isinf(value):
        return "∞" if value > 0 else "-∞"
    if float(value).is_integer() and abs(value) < 1e6:
        return f"{value:.0f}"
    if value != 0 and not 1e-3 <= abs(value) < 1e5:
        return f"{value:.{digits - 1}e}"
    return f"{value:.{digits}g}"


def decibel(value: float | None) -> str:
    """Return an SQNR in dB; "exact" without any error, "no signal" if the reference is zero except for rounding."""
    if value is None:
        return ABSENT
    if math.isnan(value):
        return "no signal"
    if math.isinf(value):
        return "exact" if value > 0 else "-∞"
    return f"{value:.1f}"


def count(value: float | None) -> str:
    """Return a count with separators, never rounded."""
    return ABSENT if value is None else f"{value:,.0f}"


def counter(value: float) -> str:
    """Return a counter: whole numbers with separators, others with four significant digits."""
    return count(value) if float(value).is_integer() else number(value, 4)


def percent(value: float | None, digits: int = 2) -> str:
    """Return a fraction as per cent. A value that would round up to 100 % reads "> 99.99 %": only all is 100 %."""
    if value is None or math.isnan(value):
        return ABSENT
    text = f"{100 * value:.{digits}f} %"
    if value < 1 and text.startswith("100."):
        return f"> {100 - 10.0**-digits:.{digits}f} %"
    return text


def signed_percent(value: float | None) -> str:
    """Return a difference of fractions in percentage points, with its sign."""
    return ABSENT if value is None else f"{100 * value:+.2f}"


def interval(low: float | None, high: float | None) -> str:
    """Return a confidence interval of a fraction, in per cent."""
    return "" if low is None or high is None else f"[{100 * low:.2f}, {100 * high:.2f}]"


def duration(seconds: float | None) -> str:
    """Return a wall time: 3 ms, 1.24 s, 2 min 03 s."""
    if seconds is None:
        return ABSENT
    if seconds < 1e-3:
        return f"{1e6 * seconds:.3g} µs"
    if seconds < 1:
        return f"{1000 * seconds:.3g} ms"
    if seconds < 100:
        return f"{seconds:.2f} s"
    return f"{int(seconds) // 60} min {int(seconds) % 60:02d} s"


def date(stamp: str) -> str:
    """Return an ISO 8601 date in readable form: 2025-01-02 03:04:05 UTC; any other text unchanged."""
    text = stamp.replace("T", " ", 1) if stamp[:4].isdigit() else stamp
    for suffix in ("+00:00", "Z"):
        if text != stamp and text.endswith(suffix):
            return text.removesuffix(suffix) + " UTC"
    return text


def times(ratio: float | None) -> str:
    """Return a ratio: x1.25; "same" if it is exactly 1."""
    if ratio is None or math.isnan(ratio):
        return ABSENT
    return "same" if ratio == 1 else f"x{ratio:.3g}"


def short(value: str | None, length: int = 16) -> str:
    """Return the head of a SHA-256 in hex; any other text unchanged."""
    if not value:
        return ABSENT
    return value[:length] + "…" if len(value) == 64 and set(value) <= set("0123456789abcdef") else value


def shape(sizes: Sequence[int]) -> str:
    """Return a shape or coordinates: [360, 128]; [] for a scalar."""
    return "[" + ", ".join(map(str, sizes)) + "]"


def markdown(text: str) -> str:
    """Escape text for a Markdown table cell: no markup, no HTML, one line."""
    clean = " ".join(text.split())
    clean = clean.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")
    for c in "\\`*_[]|":
        clean = clean.replace(c, "\\" + c)
    return clean
