"""The ways in which an element passes: equal, within the accumulated bound, on its own operands, in higher precision.

A comparison tries them in this order, element by element, and the first one that can decide does. An element that none of them
decides is *not proved*: neither a pass nor a difference.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, fields

NORM = "the largest error, in units of one ulp of the element or of what one-ulp changes of inputs and random rounding do to it"
"""The norm in which `HigherPrecision` measures distances, in words."""


@dataclass(frozen=True)
class Ways:
    """Counts of elements, by the way in which each was decided.

    Attributes:
        equal: the same value on both sides; passes whatever the bound.
        accumulated: within the bound of errors accumulated from the model's inputs on.
        own: within the bound of the operation (or its group) on the operands that the engine really had.
        higher: as near to the program in higher precision as the golden is (`third_judge`).
        not_proved: none of these decides.
        beyond: differs more than the way that decides allows.
    """

    equal: int = 0
    accumulated: int = 0
    own: int = 0
    higher: int = 0
    not_proved: int = 0
    beyond: int = 0

    @classmethod
    def total(cls, ways: Iterable[Ways | None]) -> Ways:
        """Return the sums; None (a result that was stored without ways) counts as zero."""
        known = [w for w in ways if w is not None]
        return cls(**{f.name: sum(getattr(w, f.name) for w in known) for f in fields(cls)})

    def words(self) -> str:
        """Return the counts as text ("held: 500 equal, 12 within the accumulated bound"), or ""."""
        named = (
            (self.equal, "equal"),
            (self.accumulated, "within the accumulated bound"),
            (self.own, "on their own operands"),
            (self.higher, "to higher precision"),
        )
        held = ", ".join(f"{count:,} {words}" for count, words in named if count)
        left = [f"{self.not_proved:,} not proved"] if self.not_proved else []
        left += [f"{self.beyond:,} beyond"] if self.beyond else []
        return "; ".join([*([f"held: {held}"] if held else []), *left])


@dataclass(frozen=True)
class HigherPrecision:
    """The third judge's figures for one operation. Distances are in the norm `NORM`.

    Attributes:
        dtype: of the evaluation that is the reference for both ("float64", "longdouble"); "" without one.
        golden: the golden's distance, over the elements where it can be trusted. other: the engine's, over those that were judged.
        allowed: max(4 * golden, 2).
        condition: the most that one-ulp changes of inputs and weights move an element, in ulps of the element.
        draws: number of evaluations with changed inputs and weights.
        why: why it could not decide, one clause; "" if it decided everything.
    """

    dtype: str
    golden: float
    other: float
    allowed: float
    condition: float
    draws: int
    why: str
