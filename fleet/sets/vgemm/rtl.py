"""Paths of the hardware's files: `rtl_models/vgemm/files.f` lists them in compile order, relative to `rtl_models`."""

from __future__ import annotations

from fleet.sdk import RtlFiles, RtlMemory, listed_sources, rtl_models

_MEMORIES = {name: RtlMemory("vgemm_pad", f"u_core.u_{name}.mem") for name in ("uop", "inp", "wgt", "acc")}


def rtl_files() -> RtlFiles | None:
    """Return the files; None if the list does not exist (an installation without hardware)."""
    root = rtl_models()
    listing = root / "vgemm" / "files.f"
    return RtlFiles(listed_sources(listing, root), "vgemm_top", memories=_MEMORIES) if listing.is_file() else None
