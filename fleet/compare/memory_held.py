"""Evidence that the run used the memory model that was asked for."""

from __future__ import annotations

from collections.abc import Iterable

_ROWS = "row_hits"


def other_memory(asked: str, counted: Iterable[str]) -> str | None:
    """Return why the hardware cannot have run on the requested memory model, or None if it can.

    asked: the requested memory model. counted: names of the run's counters. Only timed memory counts rows of a DRAM.
    """
    timed = asked.partition(":")[0] == "timed"
    rows = any(name.endswith(_ROWS) for name in counted)
    if timed and not rows:
        return f"memory {asked} was asked for and no row of a DRAM was counted: another memory answered"
    if rows and not timed:
        return f"memory {asked} was asked for and rows of a DRAM were counted: timed memory answered"
    return None
