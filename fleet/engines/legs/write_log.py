"""Writes of the functional model, kept for a run in legs that follows it and would compute the same states again."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from fleet.engines.trace import Commit
from fleet.sdk import Call, Write

LIMIT = 1 << 28
"""Bytes of writes that are kept; what comes later is computed again."""


@dataclass(frozen=True)
class LoggedCall:
    """A call with what it wrote. writes: without result registers. size: bytes of writes."""

    call: Call
    commit: Commit
    writes: Sequence[Write]
    size: int


class WriteLog:
    """Logged calls by the number of their commit. Each is taken once."""

    def __init__(self, limit: int = LIMIT) -> None:
        """limit: as `LIMIT`."""
        self._limit, self._size = limit, 0
        self._calls: dict[int, LoggedCall] = {}

    def keep(self, call: Call, commit: Commit, writes: Sequence[Write]) -> None:
        """Log a call, if there is room, with copies of what it wrote: a write may be a view of memory."""
        stored = [w for w in writes if w.space != "reg"]
        size = sum(w.data.size for w in stored)
        if self._size + size <= self._limit:
            self._size += size
            self._calls[commit.seq] = LoggedCall(call, commit, [replace(w, data=w.data.copy()) for w in stored], size)

    def take(self, seq: int, call: Call) -> LoggedCall | None:
        """Return the call of a number and forget it; None if it is not logged, or is another call."""
        found = self._calls.pop(seq, None)
        if found is None:
            return None
        self._size -= found.size
        same = found.call.instruction == call.instruction and found.call.fields == call.fields
        return found if same else None
