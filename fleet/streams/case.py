"""What a stream is and what came of it: plain data."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Literal, get_args

from fleet.compare.diverged import Divergence
from fleet.sdk import Call, Write

__all__ = ["ISSUES", "Issue", "Setting", "StreamCase", "StreamCommit", "StreamOutcome", "Unwritten"]

Issue = Literal["regs", "aux", "ahead"]
"""Written to the registers and waited for one by one; fetched as binaries; written to the registers while others are under way."""
ISSUES: tuple[Issue, ...] = get_args(Issue)


Unwritten = Literal["zeros", "undefined", "left out"]
"""Bytes of DDR and HBM that no block of a stream fills: zeros; undefined, so that depending on them is a failure; undefined,
and instructions from the first on that depends on them (or on undefined memory inside the hardware) are not compared."""


@dataclass(frozen=True)
class StreamCase:
    """Instructions in order, and what device memory holds when they start.

    Attributes:
        name: for people and file names; device: of an installed instruction set.
        calls: may be illegal: then the same refusal is expected of both engines.
        blocks: what memory holds (space "reg" has no place here); what else is there says `unwritten`. Blocks of on-chip memory
            and of space "state" (state registers) let a stream begin in the middle of a program; the rest is as after reset.
        causes: the cause of every call, 0 for an instruction that is executed; None: whatever the functional model says.
        parameters: byte address -> value of parameter registers, written before the first instruction.
        seed: that the case was drawn with; replay: the one command that makes and runs it again, empty when there is none.
        classes: what the case is about, for the account of coverage ("tokens" -> "maximum").
    """

    name: str
    device: str
    calls: tuple[Call, ...]
    blocks: tuple[Write, ...] = field(default=(), repr=False)
    causes: tuple[int, ...] | None = None
    parameters: Mapping[int, int] = field(default_factory=dict[int, int])
    seed: int = 0
    replay: str = ""
    classes: Mapping[str, str] = field(default_factory=dict[str, str])
    unwritten: Unwritten = "zeros"


@dataclass(frozen=True)
class Setting:
    """How a stream runs on `rtl`: memory model ("ideal", "fixed", "stall:7", ...; see `fleet.engines.rtl`) and way of issue."""

    memory: str = "ideal"
    issue: Issue = "regs"

    @property
    def name(self) -> str:
        """ "stall:7/regs"."""
        return f"{self.memory}/{self.issue}"


@dataclass(frozen=True)
class StreamCommit:
    """One commit as an engine left it; what two engines must agree on but for the cycles.

    cause: 0, or why the instruction was refused; start, end: cycles since reset, None without a clock.
    """

    instruction: str
    cause: int
    digest: int
    bytes_written: int
    result: int | None
    start: int | None = None
    end: int | None = None
    cycles: Mapping[str, int] = field(default_factory=dict[str, int])

    @property
    def architectural(self) -> tuple[object, ...]:
        """Everything but the clock."""
        return (self.instruction, self.cause, self.digest, self.bytes_written, self.result)


@dataclass(frozen=True)
class StreamOutcome:
    """A stream under one setting, compared.

    Attributes:
        expected: commits of `iss`; found: of `rtl` (as many as there were).
        passed: every commit and every byte of memory agreed, and something was compared.
        reasons: why not, a line each; divergence: the first difference, None where the run itself failed.
        bytes_compared: of destinations, by digest; image_bytes: of memory images, one by one.
        cycles: of the whole job, register port included; seconds: wall time of the simulation of it.
        traffic: "ddr.read_bytes", "hbm.3.row_hits", ... -> number, as the bench counted it (`fleet.engines.rtl_sim.job.Status`).
        left_out: instructions that were not compared, because they depend on what nothing defined, or stand behind one that does.
    """

    case: StreamCase
    setting: Setting
    expected: Sequence[StreamCommit]
    found: Sequence[StreamCommit]
    passed: bool
    reasons: tuple[str, ...]
    divergence: Divergence | None = None
    bytes_compared: int = 0
    image_bytes: int = 0
    cycles: int = 0
    seconds: float = 0.0
    traffic: Mapping[str, int] = field(default_factory=dict[str, int])
    left_out: int = 0
