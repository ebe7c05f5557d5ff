"""The account of a divergence: what a replay of its neighbourhood showed beside what the run itself left. Plain data."""

from __future__ import annotations

from dataclasses import dataclass, field

__all__ = ["CommitSpan", "DivergenceAccount", "FirstBeat", "OperandLink", "Replayed", "Tiles"]


@dataclass(frozen=True)
class Replayed:
    """The instructions that ran again on the hardware, from memory that both engines agreed on.

    first: of the window, that ended at the divergent one; calls: of the whole run up to there. tries: lengths of the windows that
    were tried, in order. filled: earlier instructions that ran once more, because they left what the window reads in memories on
    the chip. issue: how the window was issued. same: whether it differed in the same way (the same bytes).
    cycles: of the window; seconds: of all tries; start, end: cycles of the divergent instruction within the window.
    younger: instructions behind the divergent one that were started too; None where there were none.
    """

    first: int
    calls: int
    tries: tuple[int, ...]
    filled: int
    issue: str
    same: bool
    cycles: int
    seconds: float
    start: int | None = None
    end: int | None = None
    younger: int | None = field(default=None, metadata={"may_be_missing": True})


@dataclass(frozen=True)
class Tiles:
    """The destination in blocks, in the order in which the instruction writes them.

    first: number of the first block that differs; count: of all; wrong: how many differ. place, size: of that block, as text and in
    bytes.
    """

    first: int
    count: int
    wrong: int
    place: str
    size: int


@dataclass(frozen=True)
class FirstBeat:
    """The write that went wrong first in time. cycle: of the replayed window; number: of the instruction's beats, from 0.

    what: "wrong value", "outside the destination", "too early" or "missing"; place, expected, found: as text.
    """

    cycle: int | None
    number: int
    count: int
    what: str
    place: str
    expected: str
    found: str


@dataclass(frozen=True)
class OperandLink:
    """Where an operand of an instruction came from.

    depth: 0 for the divergent instruction's own operands, 1 for those of the one that wrote them, ...
    reader: number of the instruction that read. field: of its address, empty where none is that address. place: as text.
    writer: number of the instruction that wrote it last, None for what the host put there. words: its name and operation, or what
    it is.
    digest: that both engines agreed on, 16 hex digits; empty for the host's.
    """

    depth: int
    reader: int
    field: str
    place: str
    size: int
    writer: int | None
    words: str
    digest: str


@dataclass(frozen=True)
class CommitSpan:
    """A commit near the divergence, for the time line. equal: None where it was not compared."""

    seq: int
    instruction: str
    ops: tuple[str, ...]
    start: int | None
    end: int | None
    equal: bool | None


@dataclass(frozen=True)
class DivergenceAccount:
    """What the page shows beside the divergence itself.

    source: of the model's operation, "model.py:12: h = x @ w"; empty without one. pattern: of the bits that differ, a line each.
    address: the field that the failing address comes from, a line each. supposed: values of single fields that would explain
    what was found, a line each. chain: inputs, down to what the host put there. near: commits around it.
    """

    source: str = ""
    replayed: Replayed | None = None
    tiles: Tiles | None = None
    beat: FirstBeat | None = None
    pattern: tuple[str, ...] = ()
    address: tuple[str, ...] = ()
    supposed: tuple[str, ...] = ()
    chain: tuple[OperandLink, ...] = ()
    near: tuple[CommitSpan, ...] = ()
    cut: bool = False
    """Whether the run ended at the divergence, so that nothing behind it was compared."""
    counted_by: int | None = field(default=None, metadata={"may_be_missing": True})
    """The commit that counts what the divergent instruction wrote before its turn; None where it is its own."""
