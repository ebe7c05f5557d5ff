"""What users compile their C++ host programs with: `fleet_host.h`, header only (docs/host.md), and a whole program for decoders."""

from __future__ import annotations

from pathlib import Path

__all__ = ["greedy_program", "include_dir"]


def include_dir() -> Path:
    """The folder of `fleet_host.h`."""
    return Path(__file__).resolve().parent


def greedy_program() -> Path:
    """A host program for language models, whose macros say what header it drives: see its first lines."""
    return include_dir() / "greedy.cpp"
