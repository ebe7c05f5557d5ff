"""What users compile their C++ host programs with: `fleet_host.h`, header only (docs/host.md)."""

from __future__ import annotations

from pathlib import Path

__all__ = ["include_dir"]


def include_dir() -> Path:
    """The folder of `fleet_host.h`."""
    return Path(__file__).resolve().parent
