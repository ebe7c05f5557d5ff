"""The files of an installed set to which `fleet isa add` and `fleet isa new --extends` add."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from fleet.sdk import InstructionSet

UNIT = "vec"
_BASE_CLASS = "VectorInstruction"


@dataclass(frozen=True)
class Home:
    """A set with the parts of the template.

    package: that defines the base class of its instructions, its own or one that it extends; folder: of its own package;
    lanes: the hardware file with a branch an instruction; None without hardware.
    """

    package: str
    folder: Path
    lanes: Path | None


def home_of(instruction_set: InstructionSet) -> Home | None:
    """None for a set whose instructions are not those of the template."""
    s = instruction_set
    bases = {c for cls in s.instructions.values() for c in cls.__mro__ if c.__name__ == _BASE_CLASS}
    if len(bases) != 1:
        return None
    lanes = [p for p in (s.rtl.written if s.rtl else ()) if p.name.endswith("_lanes.sv")]
    return Home(bases.pop().__module__.rpartition(".")[0], s.description.resolve().parent, lanes[0] if lanes else None)
