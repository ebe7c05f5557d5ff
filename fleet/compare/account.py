"""The account of a divergence, as plain data: what a replay of the instructions around it showed, and what the run itself left."""

from __future__ import annotations

from dataclasses import dataclass, field

from fleet.core.codec import MAY_BE_MISSING


@dataclass(frozen=True)
class Replayed:
    """The instructions that ran again on the hardware, from memory that both engines agreed on (the replayed window).

    first: number of the window's first instruction; the window ends at the divergent one.
    calls: number of instructions of the whole run, up to the divergent one.
    tries: lengths of the windows that were tried, in order.
    filled: number of earlier instructions that were replayed too, because the window reads what they left in on-chip memories.
    issue: how the window was issued.
    same: whether the replay differed in the same way (the same bytes).
    cycles: of the window. seconds: of all tries together.
    start, end: cycles of the divergent instruction within the window.
    younger: number of instructions after the divergent one that were started too, or None.
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
    younger: int | None = field(default=None, metadata=MAY_BE_MISSING)


@dataclass(frozen=True)
class Tiles:
    """The destination in blocks, in the order in which the instruction writes them.

    first: number of the first block that differs. count: number of all blocks. wrong: number of blocks that differ.
    place: of the first block that differs, as text. size: of that block, in bytes.
    """

    first: int
    count: int
    wrong: int
    place: str
    size: int


@dataclass(frozen=True)
class FirstBeat:
    """The first write, in time, that is wrong.

    cycle: within the replayed window. number: of the write among the instruction's beats, from 0. count: number of beats.
    what: "wrong value", "outside the destination", "too early" or "missing". place, expected, found: as text.
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
    """Origin of an instruction's operand.

    depth: 0 for the divergent instruction's own operands, 1 for the operands of the instruction that wrote those, and so on.
    reader: number of the instruction that reads the operand.
    field: instruction field that holds its address; empty if none does. place: as text. size: in bytes.
    writer: number of the instruction that wrote it last; None if the host wrote it.
    words: name and operation of the writer, or what the data is.
    digest: on which both engines agreed, 16 hex digits; empty for data of the host.
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
    """A commit near the divergence, for the time line. equal: None if it was not compared."""

    seq: int
    instruction: str
    ops: tuple[str, ...]
    start: int | None
    end: int | None
    equal: bool | None


@dataclass(frozen=True)
class DivergenceAccount:
    """Context of a divergence, for its page.

    source: source line of the model's operation ("model.py:12: h = x @ w"), or empty.
    pattern: pattern of the bits that differ, as text lines.
    address: the instruction field that the failing address comes from, as text lines.
    supposed: values of single fields that would explain what was found, as text lines.
    chain: inputs, followed back to what the host wrote. near: commits around the divergence.
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
    """True if the run ended at the divergence, so that no later commit was compared."""
    counted_by: int | None = field(default=None, metadata=MAY_BE_MISSING)
    """The commit that accounts for a write which the divergent instruction made before its turn; None if that is its own commit."""
