"""Paths of the hardware's files: `rtl_models/vgemm/files.f` lists them in compile order, relative to `rtl_models`."""

from __future__ import annotations

from pathlib import Path

from fleet.sdk import RtlFiles, RtlMemory

__all__ = ["rtl_files"]

_PACKAGE = Path(__file__).resolve().parents[2]
_MEMORIES = {name: RtlMemory("vgemm_pad", f"u_core.u_{name}.mem") for name in ("uop", "inp", "wgt", "acc")}


def rtl_files() -> RtlFiles | None:
    """Return the files; None if the list does not exist (an installation without hardware)."""
    root = _PACKAGE.parent / "rtl_models"
    if not root.is_dir():
        root = _PACKAGE / "_rtl_models"
    listing = root / "vgemm" / "files.f"
    if not listing.is_file():
        return None
    lines = (line.split("#")[0].strip() for line in listing.read_text(encoding="utf-8").splitlines())
    return RtlFiles(tuple(root / line for line in lines if line), "vgemm_top", memories=_MEMORIES)
