"""Paths of the hardware's files: `rtl_models/hbm0923/files.f` lists them in compile order, relative to `rtl_models`."""

from __future__ import annotations

from pathlib import Path

from fleet.sdk import RtlFiles, RtlMemory

TOP = "hbm0923_top"
_PACKAGE = Path(__file__).resolve().parents[2]
_MEMORIES = {"onchip": RtlMemory("hbm0923_onchip", "u_ddr_hub.u_onchip.gen_half[{bank}].mem")}


def rtl_root() -> Path:
    """Return `rtl_models` of the checkout, or its copy in an installed package."""
    checkout = _PACKAGE.parent / "rtl_models"
    return checkout if checkout.is_dir() else _PACKAGE / "_rtl_models"


def rtl_files() -> RtlFiles | None:
    """Return the files; None if the list does not exist (an installation without hardware)."""
    root = rtl_root()
    listing = root / "hbm0923" / "files.f"
    if not listing.is_file():
        return None
    lines = (line.split("#")[0].strip() for line in listing.read_text(encoding="utf-8").splitlines())
    return RtlFiles(tuple(root / line for line in lines if line), TOP, memories=_MEMORIES)
