"""A stream and its outcome, as plain data."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Literal, get_args

from fleet.compare.diverged import Divergence
from fleet.sdk import Call, Write

Issue = Literal["regs", "aux", "ahead"]
"""regs: written to the registers, each awaited before the next. aux: fetched as binaries. ahead: written to the registers while
others run.
"""
ISSUES: tuple[Issue, ...] = get_args(Issue)


Unwritten = Literal["zeros", "undefined", "left out"]
"""Bytes of DDR and HBM that no block of a stream fills. zeros: they are 0. undefined: a result that depends on them is a failure.
left out: undefined, but instructions from the first one on that depends on them (or on undefined memory inside the hardware) are
not compared.
"""


@dataclass(frozen=True)
class StreamCase:
    """Instructions in order, and the contents of device memory when they start.

    Attributes:
        name: for people and file names. device: of an installed instruction set.
        calls: may be illegal; then both engines must refuse them alike.
        blocks: contents of memory (not of space "reg"); `unwritten` defines all other bytes of DDR and HBM. Blocks of on-chip
            memory and of space "state" (state registers) let a stream begin in the middle of a program; the rest is as after
            reset.
        causes: the cause of each call, 0 for an instruction that is executed; None: whatever the functional model says.
        parameters: byte address -> value of parameter registers, written before the first instruction.
        seed: seed that the case was drawn with. replay: the command that makes and runs it again, or empty.
        classes: what the case covers, for the coverage account ("tokens" -> "maximum").
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
    """A stream's run on `rtl`: memory model ("ideal", "fixed", "stall:7", ...; see `fleet.engines.rtl`) and way of issue."""

    memory: str = "ideal"
    issue: Issue = "regs"

    @property
    def name(self) -> str:
        """Memory model and way of issue: "stall:7/regs"."""
        return f"{self.memory}/{self.issue}"

    @property
    def options(self) -> str:
        """The options of `fleet stream run` that give it, a blank in front of each; empty for what the command takes anyway."""
        memory = "" if self.memory == "ideal" else f" --memory {self.memory}"
        return memory + ("" if self.issue == "regs" else f" --issue {self.issue}")


@dataclass(frozen=True)
class StreamCommit:
    """One commit as an engine left it. Two engines must agree on everything except the cycles.

    cause: 0, or why the instruction was refused. start, end: cycles since reset; None without a clock.
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
        """The fields that both engines must agree on: all except cycles."""
        return (self.instruction, self.cause, self.digest, self.bytes_written, self.result)


@dataclass(frozen=True)
class StreamOutcome:
    """A stream under one setting, compared.

    Attributes:
        expected: commits of `iss`. found: commits of `rtl` (as many as there were).
        passed: whether all commits and bytes of memory agreed, and something was compared.
        reasons: why it did not pass, a line each. divergence: the first difference; None if the run itself failed.
        bytes_compared: bytes of destinations, compared by digest. image_bytes: bytes of memory images, compared one by one.
        cycles: of the whole job, register port included. seconds: wall time of its simulation.
        traffic: "ddr.read_bytes", "hbm.3.row_hits", ... -> number, as the bench counted it (`fleet.engines.rtl_sim.job.Status`).
        cut: of a stream that ran in legs: where it was cut and what was proved, one line; of a fast build, what it had not.
        left_out: number of instructions that were not compared: the first that depends on undefined memory, and all after it.
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
    cut: str = ""
