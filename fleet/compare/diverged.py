"""Commits of two engines side by side, and the first place at which they must agree and do not."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from fleet.compare.account import DivergenceAccount
from fleet.core.codec import MAY_BE_MISSING


@dataclass(frozen=True)
class CommitRow:
    """One commit of two engines.

    reference_digest, other_digest: 16 hex digits; empty if that side lacks the commit.
    cycles: empty without a source. macs: useful multiply-accumulates; macs_issued: those and padding; both None without a source.
    least_bytes: size of its operands, each counted once, by "<space>_read" and "<space>_write" ("hbm_read"): the least traffic
    that it needs (`Instruction.reads` and `writes`); empty if unknown.
    equal: whether instruction, digest, bytes, result and operations agree. unit: hardware unit; empty if unknown.
    """

    seq: int
    instruction: str
    ops: tuple[str, ...]
    reference_digest: str
    other_digest: str
    bytes_written: int
    result: int | None
    start: int | None
    end: int | None
    cycles: Mapping[str, int]
    macs: int | None
    macs_issued: int | None
    model_cycles: int | None
    token_range: tuple[int, int] | None
    equal: bool
    least_bytes: Mapping[str, int] = field(default_factory=dict[str, int])
    unit: str = ""


@dataclass(frozen=True)
class ElementDifference:
    """One element of a destination that differs.

    address: byte offset in the space. element: coordinates in the operation's tensor; None if the layout is unknown.
    expected, found: as text ("0x3c01 = 1.00097656").
    place: row and column of an on-chip memory, or the state register; None if the space is byte-addressed.
    """

    space: str
    bank: int
    address: int
    element: tuple[int, ...] | None
    expected: str
    found: str
    place: str | None = None

    @property
    def where(self) -> str:
        """The place as text: "hbm port 3 0x40", "acc row 7, column 3"."""
        return self.place or f"{self.space}{f' port {self.bank}' if self.space == 'hbm' else ''} {self.address:#x}"


@dataclass(frozen=True)
class Divergence:
    """The first place at which two traces must agree and do not.

    For comparisons of kind "bits", seq and instruction are those of the commit. For kind "bound", ops holds the first operation
    beyond its bound.
    registers: (byte address, value) of the register writes that start the instruction, in order.
    registers_named: the operand fields by name.
    inputs: what the value was computed from, as text lines.
    disassembly: the instruction in one line, then one line per register with its meaning; empty if unknown.
    total_differences: number of elements that differ there; None if the bytes are not available.
    account: what a replay showed; None if nothing was replayed.
    """

    comparison: str
    seq: int | None
    instruction: str | None
    ops: tuple[str, ...]
    what: str
    differences: tuple[ElementDifference, ...] = ()
    total_differences: int | None = None
    registers: tuple[tuple[int, int], ...] = ()
    registers_named: Mapping[str, int] = field(default_factory=dict[str, int])
    inputs: tuple[str, ...] = ()
    disassembly: tuple[str, ...] = ()
    account: DivergenceAccount | None = field(default=None, metadata=MAY_BE_MISSING)

    @property
    def commit(self) -> int | None:
        """The number of the commit that differs: the instruction's own, or an older one that accounts for an early write."""
        counted_by = None if self.account is None else self.account.counted_by
        return self.seq if counted_by is None else counted_by
