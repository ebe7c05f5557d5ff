"""Bins that programs meet: an operation, and the dtype and layout of its operand."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np

from fleet.verify.programs.parts.operations import EXPRESSIONS
from fleet.verify.programs.parts.statements import STATEMENTS
from fleet.verify.programs.parts.values import DTYPES, LAYOUTS

Bin = tuple[str, str, str]
"""A bin of coverage: (operation, dtype, layout)."""

BINS: tuple[Bin, ...] = tuple((op, dtype, layout) for op in (*EXPRESSIONS, *STATEMENTS) for dtype in DTYPES for layout in LAYOUTS)
"""All bins, including those that NumPy does not accept."""
_NUMBER: Mapping[Bin, int] = {b: i for i, b in enumerate(BINS)}
_TRIES = 6
"""Draws refused by CPython after which an unmet bin is closed; programs refused by fleet after which a bin is given up."""


_REFUSALS = 1
_AVOIDED_SHARE = 0.02


@dataclass
class BinCounts:
    """Counts by the number of the bin.

    met: in programs that agreed. closed: draws that CPython refused, or without an operand of the layout. refused: statements that
    only fleet refused.
    """

    met: dict[int, int] = field(default_factory=dict[int, int])
    closed: dict[int, int] = field(default_factory=dict[int, int])
    refused: dict[int, int] = field(default_factory=dict[int, int])

    def add(self, other: BinCounts) -> None:
        """Add another account's counts."""
        for mine, theirs in ((self.met, other.met), (self.closed, other.closed), (self.refused, other.refused)):
            for number, count in theirs.items():
                mine[number] = mine.get(number, 0) + count

    def is_closed(self, number: int) -> bool:
        """Return whether CPython accepts no such call."""
        return number not in self.met and number not in self.refused and self.closed.get(number, 0) >= _TRIES

    def refusing(self) -> list[int]:
        """Return the bins that met only refusals."""
        return sorted(n for n, count in self.refused.items() if count >= _REFUSALS and n not in self.met)

    def open(self) -> list[int]:
        """Return the bins to aim at: not met, not closed, and not refused repeatedly."""
        closed = {n for n in self.closed if self.is_closed(n)}
        return sorted(set(range(len(BINS))) - self.met.keys() - set(self.refusing()) - closed)

    @property
    def share(self) -> tuple[int, int]:
        """(number of bins met, number of bins not closed)."""
        closed = sum(self.is_closed(n) for n in range(len(BINS)))
        return len(self.met), len(BINS) - closed


def number_of(b: Bin) -> int | None:
    """Return the bin's number, or None if it is not a bin."""
    return _NUMBER.get(b)


def aims(rng: np.random.Generator, wanted: Sequence[int], count: int, avoided: Collection[int] = ()) -> list[Bin]:
    """Choose bins for one program, with at most two dtypes, so that it needs few inputs. First bins of `wanted`, then any.

    If few bins are wanted, only one of them is taken. avoided: bins that fleet is known to refuse; one draw in fifty may take one.
    """
    most = count if len(wanted) > len(BINS) // 8 else 1
    found: list[Bin] = []
    for source, limit in ((wanted, most), (range(len(BINS)), count)):
        tries = 0
        while source and len(found) < limit and tries < 12 * count:
            tries += 1
            number = source[int(rng.integers(len(source)))]
            b = BINS[number]
            dtypes = {f[1] for f in found}
            if (b[1] in dtypes or len(dtypes) < 2) and (number not in avoided or rng.random() < _AVOIDED_SHARE):
                found.append(b)
    return found
