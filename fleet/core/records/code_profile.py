"""Instructions of a run on a processor, by place: the content of a trace's `meta["riscv_profile"]`."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass


@dataclass(frozen=True)
class OperationInstructions:
    """An operation. macs: its multiply-accumulates. kinds: instructions by kind ("load", "float"); no entry for 0."""

    id: str
    instructions: int
    macs: int
    kinds: Mapping[str, int]


@dataclass(frozen=True)
class HotBlock:
    """A straight run of instructions.

    Attributes:
        id, function: of the operation. address: of the first instruction, in hexadecimal.
        runs: how often it ran. instructions: its length. share: of all instructions of the run, as a fraction.
        lines: address and text of each instruction.
    """

    id: str
    function: str
    address: str
    runs: int
    instructions: int
    share: float
    lines: tuple[str, ...]


@dataclass(frozen=True)
class StoredProfile:
    """The whole run. blocks: the hottest first."""

    operations: tuple[OperationInstructions, ...]
    blocks: tuple[HotBlock, ...]
