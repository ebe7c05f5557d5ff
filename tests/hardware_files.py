"""The sources of an instruction set's hardware as files, generated ones included."""

from __future__ import annotations

from pathlib import Path

from fleet.isa.hardware import hardware_of
from fleet.isa.registry import find_instruction_set

RTL = Path(__file__).parents[1] / "rtl_models"


def hardware_files(name: str) -> list[Path]:
    """Of an installed set, in compile order."""
    found = hardware_of(find_instruction_set(name))
    assert found is not None
    return list(found.files)


def listed(name: str, file: str) -> Path:
    """One file as the set's file list names it ("arith/fp_pkg.sv", "generated/..."), which must list it."""
    (path,) = (p for p in hardware_files(name) if p == RTL / file or file == f"generated/{p.name}")
    return path
