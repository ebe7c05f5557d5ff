"""Commits of two engines side by side, and the first place at which what must agree does not."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from fleet.compare.account import DivergenceAccount

__all__ = ["CommitRow", "Divergence", "ElementDifference"]


@dataclass(frozen=True)
class CommitRow:
    """One instruction commit of two engines. Digests are 16 hex digits; cycles and macs are empty / None without a source.

    equal: instruction, digest, bytes, result and operations agree. macs: useful; macs_issued: with padding waste.
    least_bytes: the bytes that its operands hold, each once, as "<space>_read" and "<space>_write" ("hbm_read"): what it
    must move at least (`Instruction.reads` and `writes`); empty when unknown. unit: of the hardware; empty when unknown.
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
    """One byte range of a destination that differs. address: byte offset in the space; element: coordinates in the operation's
    tensor where the layout is known, else None; expected and found: as text ("0x3c01 = 1.00097656"). place: row and column of an
    on-chip memory, or the state register; None for what has an address."""

    space: str
    bank: int
    address: int
    element: tuple[int, ...] | None
    expected: str
    found: str
    place: str | None = None

    @property
    def where(self) -> str:
        """The place in words: "hbm port 3 0x40", "acc row 7, column 3"."""
        return self.place or f"{self.space}{f' port {self.bank}' if self.space == 'hbm' else ''} {self.address:#x}"


@dataclass(frozen=True)
class Divergence:
    """The first place at which two things that must agree do not.

    For "bits" seq and instruction are the commit's; for "bound" op and element of the first operation beyond its bound.
    registers: (byte address, value) of the writes that start the instruction, in order; registers_named: the operand
    fields by name. inputs: what the place computed from, as text lines. disassembly: the instruction in one line, then
    a line a register with its meaning; empty when unknown. total_differences: elements that differ there,
    None where the bytes could not be had. account: what a replay showed, None where none was made.
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
    account: DivergenceAccount | None = field(default=None, metadata={"may_be_missing": True})

    @property
    def commit(self) -> int | None:
        """The commit that differs: the instruction's own, or an older one that counts what it wrote before its turn."""
        counted_by = None if self.account is None else self.account.counted_by
        return self.seq if counted_by is None else counted_by
