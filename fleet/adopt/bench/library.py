"""The parts of a bench: modules in SystemVerilog, fleet's own beside this file and those that a protocol of a user's names."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from fleet.errors import DeviceError
from fleet.sdk.ports import Protocol

FOLDER = Path(__file__).with_name("sv")
CPP = tuple(Path(__file__).with_name(name) for name in ("main.cpp", "store.cpp", "script.cpp"))
"""What drives the clocks of a bench, its memory, and its script."""
HEADERS = (Path(__file__).with_name("line.h"),)
PLAIN_STORE = FOLDER / "plain_store.sv"
"""The memory in SystemVerilog alone."""
FIRST = (
    "fleet_store_pkg.sv",
    "fleet_bench_pkg.sv",
    "streams.sv",
    "memories.sv",
    "axi4.sv",
    "buses.sv",
    "tilelink.sv",
    "commands.sv",
    "instructions.sv",
)

SIGNAL = "_signal"
"""End of a part's port whose signal has the name of one by which a script drives parts (`done`, `result`)."""

_MODULE = re.compile(r"^module\s+(fleet_\w+)(.*?)^endmodule", re.S | re.M)
_PARAMETER = re.compile(r"\bparameter\s+(?:int|bit|string)\s+(\w+)")
_PORT = re.compile(r"\b(input|output)\s+logic\s*(?:\[[^\]]*\]\s*)?([\w\s,]*?)(?=\binput\b|\boutput\b|$)")


@dataclass(frozen=True)
class LibraryPart:
    """A module. inputs, outputs: names of its ports; parameters: names."""

    name: str
    inputs: frozenset[str]
    outputs: frozenset[str]
    parameters: frozenset[str]

    @property
    def is_driven(self) -> bool:
        """True if a script can start operations on it."""
        return "go" in self.inputs


def part_files(protocols: Iterable[Protocol]) -> tuple[Path, ...]:
    """Return all files, in compile order."""
    return (*(FOLDER / name for name in FIRST), *dict.fromkeys(p.bench for p in protocols if p.bench is not None))


def parts(protocols: Iterable[Protocol]) -> Mapping[str, LibraryPart]:
    """Module -> its ports and parameters. Raises DeviceError for a file that cannot be read."""
    found: dict[str, LibraryPart] = {}
    for path in part_files(protocols):
        found |= _parts(path)
    return found


@cache
def _parts(path: Path) -> Mapping[str, LibraryPart]:
    try:
        text = path.read_text(encoding="utf-8")
    except OSError as error:
        raise DeviceError(f"the bench of a protocol cannot be read ({error.strerror})", where=str(path)) from error
    text = re.sub(r"//[^\n]*", "", text)
    found: dict[str, LibraryPart] = {}
    for match in _MODULE.finditer(text):
        head = match[2].partition(");")[0]
        sides: dict[str, set[str]] = {"input": set(), "output": set()}
        header = " ".join(head.rpartition(") (")[2].split())
        for side, names in _PORT.findall(header):
            sides[side] |= {n.strip() for n in names.split(",") if n.strip()}
        found[match[1]] = LibraryPart(
            match[1], frozenset(sides["input"]), frozenset(sides["output"]), frozenset(_PARAMETER.findall(head))
        )
    return found
