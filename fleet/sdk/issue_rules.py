"""The order in which the instructions of a set may be issued, for sets whose instructions overlap."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from fleet.sdk.conformance import Draw
from fleet.sdk.hardware.device import Device
from fleet.sdk.instructions.instruction import Call

__all__ = ["Ahead", "IssueRules", "Joined", "Unordered"]

Joined = Callable[[Device, Sequence[Draw]], Sequence[Call]]
"""The calls of a program from its draws."""

Ahead = Callable[[Device, Sequence[Call], Call], bool]
"""True if a call may be written to the registers while others (the oldest first) are under way."""

Unordered = Callable[[Device, Sequence[Call]], Sequence[tuple[int, int]]]
"""Pairs of calls, by number, that touch the same bytes (one writes) and that nothing orders: what they leave is undefined."""


@dataclass(frozen=True)
class IssueRules:
    """A set's rules for the issue of its instructions.

    Attributes:
        joined: for a set whose instructions carry dependency flags, which depend on a call's neighbours; None: a draw's calls stand
            one behind the other.
        ahead: None: every instruction that is written to the registers is waited for before the next.
        unordered: None: the order of the stream orders all calls.
    """

    joined: Joined | None = None
    ahead: Ahead | None = None
    unordered: Unordered | None = None
