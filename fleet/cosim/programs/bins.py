"""Bins that programs meet: an operation, the dtype of its operand, and the operand's layout."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np

from fleet.cosim.programs.operations import EXPRESSIONS
from fleet.cosim.programs.statements import STATEMENTS
from fleet.cosim.programs.values import DTYPES, LAYOUTS

__all__ = ["BINS", "Account", "Bin", "aims"]


Bin = tuple[str, str, str]
"""(operation, dtype, layout)."""

BINS: tuple[Bin, ...] = tuple((op, dtype, layout) for op in (*EXPRESSIONS, *STATEMENTS) for dtype in DTYPES for layout in LAYOUTS)
"""All of them, whether NumPy takes such a call or not."""
_NUMBER: Mapping[Bin, int] = {b: i for i, b in enumerate(BINS)}
_TRIES = 6
"""Draws that CPython refuses, and none that it takes, until a bin is closed; programs that fleet refuses, until it is given up."""


@dataclass
class Account:
    """Counts by the bin's number.

    met: in programs that agreed. closed: draws that CPython refused, or that found no operand of the layout. refused: statements
    that only fleet refused.
    """

    met: dict[int, int] = field(default_factory=dict[int, int])
    closed: dict[int, int] = field(default_factory=dict[int, int])
    refused: dict[int, int] = field(default_factory=dict[int, int])

    def add(self, other: Account) -> None:
        """Sums."""
        for mine, theirs in ((self.met, other.met), (self.closed, other.closed), (self.refused, other.refused)):
            for number, count in theirs.items():
                mine[number] = mine.get(number, 0) + count

    def is_closed(self, number: int) -> bool:
        """Whether CPython takes no such call."""
        return number not in self.met and number not in self.refused and self.closed.get(number, 0) >= _TRIES

    def open(self) -> list[int]:
        """Bins to aim at: not met, not closed, and not refused time and again."""
        given_up = (n for n, count in self.refused.items() if count >= _TRIES and n not in self.met)
        return sorted(set(range(len(BINS))) - self.met.keys() - set(given_up) - {n for n in self.closed if self.is_closed(n)})

    @property
    def share(self) -> tuple[int, int]:
        """(met, all that are not closed)."""
        closed = sum(self.is_closed(n) for n in range(len(BINS)))
        return len(self.met), len(BINS) - closed


def number_of(b: Bin) -> int | None:
    """The bin's number; None for what is no bin."""
    return _NUMBER.get(b)


def aims(rng: np.random.Generator, wanted: Sequence[int], count: int) -> list[Bin]:
    """Bins for one program, of two dtypes, so that its inputs are few: of `wanted`, and where these do not suffice of all."""
    found: list[Bin] = []
    for source in (wanted, range(len(BINS))):
        tries = 0
        while source and len(found) < count and tries < 12 * count:
            tries += 1
            b = BINS[source[int(rng.integers(len(source)))]]
            dtypes = {f[1] for f in found}
            if b[1] in dtypes or len(dtypes) < 2:
                found.append(b)
    return found
