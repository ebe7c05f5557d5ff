"""A table of a page, cut to a readable length."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Generic, TypeVar

T = TypeVar("T")


@dataclass(frozen=True)
class CutRows(Generic[T]):
    """The rows that are shown, and the number of all rows."""

    rows: Sequence[T]
    total: int

    @property
    def cut(self) -> bool:
        """True if rows are left out."""
        return len(self.rows) < self.total


def cut_rows(rows: Sequence[T], most: int) -> CutRows[T]:
    """Return the first `most` rows."""
    return CutRows(rows[:most], len(rows))
