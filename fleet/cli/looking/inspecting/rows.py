"""Formats lists and counts for a page's rows."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

SHOWN = 12
"""Lines of a list before "and N more"."""


def listed(lines: Sequence[str]) -> list[str]:
    """Return at most `SHOWN` lines, then the number of the others."""
    return [*lines[:SHOWN], *([f"and {len(lines) - SHOWN} more"] if len(lines) > SHOWN else [])]


def counted(counts: Mapping[str, int]) -> str:
    """Return text such as "matmul 2, add 1 (3 in all)"."""
    words = [f"{name} {count}" for name, count in list(counts.items())[: 2 * SHOWN]]
    more = f" and {len(counts) - len(words)} more kinds" if len(counts) > len(words) else ""
    return f"{', '.join(words) or 'none'}{more} ({sum(counts.values()):,} in all)" if counts else "none"


def weights_row(arrays: int, numbers: int, size: int) -> str:
    """Return arrays, numbers and bytes of the weights as text."""
    return f"{arrays:,} arrays, {numbers:,} numbers, {size:,} bytes"


def more(count: int, shown: int) -> str:
    """Return text such as " and 3 more", or nothing."""
    return f" and {count - shown} more" if count > shown else ""
