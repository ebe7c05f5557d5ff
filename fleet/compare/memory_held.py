"""Evidence that the memory that answered is of the model that was asked for."""

from __future__ import annotations

from collections.abc import Iterable

__all__ = ["other_memory"]

_ROWS = "row_hits"


def other_memory(asked: str, counted: Iterable[str]) -> str | None:
    """Why hardware cannot have run on the memory that was asked for, by the names of what was counted; None when it can.

    Rows of a DRAM are counted by the timed memory and by no other.
    """
    timed = asked.partition(":")[0] == "timed"
    rows = any(name.endswith(_ROWS) for name in counted)
    if timed and not rows:
        return f"memory {asked} was asked for and no row of a DRAM was counted: another memory answered"
    if rows and not timed:
        return f"memory {asked} was asked for and rows of a DRAM were counted: timed memory answered"
    return None
