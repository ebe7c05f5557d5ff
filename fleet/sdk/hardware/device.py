"""One device of an instruction set."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

from fleet.sdk.hardware.state import REGISTERS, MemoryArray, State

__all__ = ["Device"]


@dataclass(frozen=True)
class ClockEstimate:
    """The clock that the RTL is estimated to reach at most. source: the stage that decides it, and who says so."""

    mhz: float
    source: str


@dataclass(frozen=True)
class Device:
    """One device: the parameters that description, functional model, RTL and compiler share, from one TOML file.

    Attributes:
        name: "hbm_small".
        instruction_set: name of the set that it belongs to.
        parameters: integers under the names of the RTL's parameters ("Tin", "Tout", "HbmPorts", ...), the depths of `arrays` among
            them; all go to the RTL.
        memory: space -> bytes ("ddr"; "hbm" is bytes a port).
        clock_mhz: the domain in which cycles are counted.
        limits: figures for the roofline: "macs_per_cycle", "hbm_bytes_per_cycle", "ddr_bytes_per_cycle".
        path: the file.
        timing: space -> table of the DRAM behind its ports, as `fleet.sdk.dram` reads it; empty: no timed memory. Not part of
            the description's hash: it says when, never what.
        clock_estimate: None: nothing is known of the RTL's own clock. Not part of the description's hash either.
        state: the set's architectural state; arrays: name -> the memory in it, sized for this device.
    """

    name: str
    instruction_set: str
    parameters: Mapping[str, int]
    memory: Mapping[str, int]
    clock_mhz: float
    limits: Mapping[str, float]
    path: Path
    timing: Mapping[str, Mapping[str, float | str]] = field(default_factory=dict[str, Mapping[str, float | str]])
    state: State = field(default_factory=State)
    arrays: Mapping[str, MemoryArray] = field(default_factory=dict[str, MemoryArray])
    clock_estimate: ClockEstimate | None = None

    def place(self, space: str, bank: int, offset: int) -> str:
        """A byte in words: "hbm port 3 0x40", "acc row 7, column 3", "state register stride"."""
        if space in self.arrays:
            return f"{space} {self.arrays[space].place(offset)}"
        if space == REGISTERS and offset // 4 < len(self.state.registers):
            return f"state register {self.state.registers[offset // 4].name}"
        return f"{space}{f' port {bank}' if space == 'hbm' else ''} {offset:#x}"
