"""C++ host programs: the parts of generated ones, and what users compile theirs with (docs/host.md).

`fleet_host.h` is the board interface, `fleet_tensors.h` moves tensors; `greedy.cpp` is a whole program for decoders,
`run_model.cpp` for other models.
"""

from __future__ import annotations

from pathlib import Path

DDR_BASE = 0x2_0000_0000
HBM_BASE = 0
"""Default addresses of the two memories for host programs, as in the boards' public tools."""

HBM_BANK_STEP = 1 << 28
"""Bytes from one HBM port to the next, as in the top module's ports (rtl_models/README.md)."""


def include_dir() -> Path:
    """Return the folder of `fleet_host.h`."""
    return Path(__file__).resolve().parent


def greedy_program() -> Path:
    """Return a host program for language models; macros name the header that it uses, see its first lines."""
    return include_dir() / "greedy.cpp"


def run_model_program() -> Path:
    """Return a host program that runs a model on arrays in files; see its first lines."""
    return include_dir() / "run_model.cpp"
