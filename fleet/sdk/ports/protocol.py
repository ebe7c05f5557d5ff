"""Protocols of ports: signals with their usual names, drivers and widths."""

from __future__ import annotations

from collections.abc import Iterator, Set
from dataclasses import dataclass, field
from pathlib import Path
from typing import Literal

__all__ = ["Driver", "Protocol", "Role", "Signal"]

Role = Literal["manager", "subordinate"]
"""Side of the design: a manager starts transfers, or drives a clock, reset or interrupt."""

Driver = Literal["manager", "subordinate", "either", "outside"]
"""The driver of a signal; outside: never the design (AHB's HREADY, which the interconnect makes)."""


@dataclass(frozen=True)
class Signal:
    """One signal of a protocol.

    Attributes:
        name: the canonical one, lower case.
        words: other names, lower case and without underscores: `aw_addr` and `AwAddr` are both `awaddr`.
        pattern: a regular expression of one token of a name, for what goes by many names (clocks); "" for none.
        driver: who drives it.
        widths: what its width may be, in bits; empty: any.
        bytes_of: the signal of which this one has a bit a byte.
        same_as: the signal that is as wide.
        needs: the signal without which this one has no sense.
        low: a regular expression of words that are active low without a suffix that says so.
        unsure: words whose polarity differs from maker to maker.
        open: whether it may be several ports, whose names go on (`a_bits_user_amba_prot`).
        aside: whether a transfer means the same without it: one that does not fit is left out, and the group stays.
    """

    name: str
    words: tuple[str, ...] = ()
    driver: Driver = "manager"
    widths: tuple[int, ...] = ()
    bytes_of: str = ""
    same_as: str = ""
    needs: str = ""
    pattern: str = ""
    low: str = ""
    unsure: tuple[str, ...] = ()
    open: bool = False
    aside: bool = False

    @property
    def spellings(self) -> tuple[str, ...]:
        """All words of it, as a name without underscores has them."""
        return () if self.pattern else (self.name.replace("_", ""), *self.words)

    def is_output(self, role: Role) -> bool | None:
        """Return True if a design in that role drives the signal, False if it reads it, None if both are allowed."""
        if self.driver == "either":
            return None
        return self.driver == role


@dataclass(frozen=True)
class Protocol:
    """A protocol.

    Attributes:
        name: as the port map writes it.
        title: as its specification writes it.
        rank: of two that explain as many ports the lower one holds.
        signals: all that it has.
        forms: sets of signals; one of them must be there whole.
        payload: whether what travels has names of the design's own (a stream of valid and ready).
        leads: a payload goes with the first of these that is there, in its direction unless `payload` says "either".
        front: whether its words begin a name.
        single: whether every signal is a group of its own (a clock).
        first: whether it takes its ports before all others.
        bench: SystemVerilog with modules `fleet_NAME_manager`, `fleet_NAME_subordinate` and `fleet_NAME_monitor`, those that there
            are; None: fleet's own, if it has some.
        never: tokens of names that are not of this protocol though a word fits (`clk_en`).
    """

    name: str
    title: str
    rank: int
    signals: tuple[Signal, ...]
    forms: tuple[frozenset[str], ...]
    payload: bool = False
    leads: tuple[str, ...] = ("valid",)
    front: bool = False
    single: bool = False
    first: bool = False
    never: frozenset[str] = field(default_factory=frozenset[str])
    bench: Path | None = None

    def form_of(self, names: Set[str]) -> frozenset[str]:
        """The form that most of these signals are of, of two alike the one that lacks less."""
        return min(self.forms, key=lambda form: (-len(form & names), len(form)))

    def signal(self, name: str) -> Signal | None:
        """The signal of a canonical name."""
        return next((s for s in self.signals if s.name == name), None)

    def faults(self) -> Iterator[str]:
        """Yield the faults of the record itself, a line each."""
        names = [s.name for s in self.signals]
        if not self.name.isidentifier():
            yield f"{self.name!r} cannot be the name of a protocol: letters, digits and _"
        for name in names:
            if not name.isidentifier() or name != name.lower() or names.count(name) > 1:
                yield f"protocol {self.name}: {name!r} cannot be the name of a signal, or two have it"
        if not self.forms or not all(self.forms):
            yield f"protocol {self.name}: forms is empty; it lists the signals that must be there"
        for name in (n for form in self.forms for n in sorted(form)):
            if name not in names:
                yield f"protocol {self.name}: forms name {name}, which is not a signal of it"
        for s in self.signals:
            for other in filter(None, (s.bytes_of, s.same_as, s.needs)):
                if other not in names:
                    yield f"protocol {self.name}: signal {s.name} names {other}, which is not a signal of it"
