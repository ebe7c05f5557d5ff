"""C++ host programs: what generated ones consist of, and what users compile theirs with (docs/host.md).

`fleet_host.h` is the board, `fleet_tensors.h` moves tensors; `greedy.cpp` is a whole program for decoders, `run_model.cpp` for
other models.
"""

from __future__ import annotations

from pathlib import Path

__all__ = ["DDR_BASE", "HBM_BANK_STEP", "HBM_BASE", "greedy_program", "include_dir", "run_model_program"]

DDR_BASE = 0x2_0000_0000
HBM_BASE = 0
"""Where host programs see the two memories when nothing else is said: as the boards' public tools have it."""

HBM_BANK_STEP = 1 << 28
"""Bytes from one HBM port to the next, as the top module's ports have it (rtl_models/README.md)."""


def include_dir() -> Path:
    """The folder of `fleet_host.h`."""
    return Path(__file__).resolve().parent


def greedy_program() -> Path:
    """A host program for language models, whose macros say what header it drives: see its first lines."""
    return include_dir() / "greedy.cpp"


def run_model_program() -> Path:
    """A host program that runs a model on arrays in files: see its first lines."""
    return include_dir() / "run_model.cpp"
