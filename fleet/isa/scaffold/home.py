"""Where an installed set keeps what `fleet isa add` and `fleet isa new --extends` write beside."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from fleet.errors import DeviceError
from fleet.isa.contract import InstructionSet

__all__ = ["UNIT", "Home", "home_of"]

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


def home_of(instruction_set: InstructionSet) -> Home:
    """Raises DeviceError, with what to do instead, for a set that does not have these parts."""
    s = instruction_set
    bases = {c for cls in s.instructions.values() for c in cls.__mro__ if c.__name__ == _BASE_CLASS}
    if len(bases) != 1:
        raise DeviceError(
            f"its instructions have no common {_BASE_CLASS}: it was not made by `fleet isa new`",
            where=s.name, hint="add the instruction by hand, as docs/instruction-sets.md says",
        )  # fmt: skip
    lanes = [p for p in (s.rtl.sources if s.rtl else ()) if p.name.endswith("_lanes.sv")]
    return Home(bases.pop().__module__.rpartition(".")[0], s.description.resolve().parent, lanes[0] if lanes else None)
