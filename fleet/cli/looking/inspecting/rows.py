"""Lists and counts as a page's rows write them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

__all__ = ["SHOWN", "counted", "listed", "more", "weights_row"]

SHOWN = 12
"""Lines of a list before "and N more"."""


def listed(lines: Sequence[str]) -> list[str]:
    """At most `SHOWN` lines, then how many are left."""
    return [*lines[:SHOWN], *([f"and {len(lines) - SHOWN} more"] if len(lines) > SHOWN else [])]


def counted(counts: Mapping[str, int]) -> str:
    """ "matmul 2, add 1 (3 in all)"."""
    words = [f"{name} {count}" for name, count in list(counts.items())[: 2 * SHOWN]]
    more = f" and {len(counts) - len(words)} more kinds" if len(counts) > len(words) else ""
    return f"{', '.join(words) or 'none'}{more} ({sum(counts.values()):,} in all)" if counts else "none"


def weights_row(arrays: int, numbers: int, size: int) -> str:
    """Arrays, numbers and bytes of the weights."""
    return f"{arrays:,} arrays, {numbers:,} numbers, {size:,} bytes"


def more(count: int, shown: int) -> str:
    """ " and 3 more", or nothing."""
    return f" and {count - shown} more" if count > shown else ""
