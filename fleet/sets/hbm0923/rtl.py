"""Paths of the hardware's files: `rtl_models/hbm0923/files.f` lists them in compile order, relative to `rtl_models`."""

from __future__ import annotations

from fleet.sdk import RtlFiles, RtlMemory, listed_sources, rtl_models
from fleet.sets.hbm0923.rtl_tables import package_text

_MEMORIES = {"onchip": RtlMemory("hbm0923_onchip", "u_ddr_hub.u_onchip.gen_half[{bank}].mem")}


def rtl_files() -> RtlFiles | None:
    """Return the files; None if the list does not exist (an installation without hardware)."""
    root = rtl_models()
    listing = root / "hbm0923" / "files.f"
    if not listing.is_file():
        return None
    return RtlFiles(listed_sources(listing, root, {"hbm0923_tables_pkg.sv": package_text}), "hbm0923_top", memories=_MEMORIES)
