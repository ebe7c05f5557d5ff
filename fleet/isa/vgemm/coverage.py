"""What coverage has to know beside the description: the dtype of results, and bins that no stream can meet."""

from __future__ import annotations

from fleet.isa.coverage import CoverageHints

__all__ = ["COVERAGE"]

_IMPOSSIBLE: tuple[tuple[str, str], ...] = (
    ("*:refused:busy", "the bench waits for room before it starts another word; sim/slow_port starts a busy one"),
    ("*:refused:bus_error", "every address of a legal call is inside memory, which then does not answer with an error"),
    ("*:refused:bad_binary", "binaries are encoded from legal calls; sim/vgemm feeds broken ones"),
)

COVERAGE = CoverageHints(dtypes={"gemm": "<i4", "alu": "<i4"}, impossible=_IMPOSSIBLE)
