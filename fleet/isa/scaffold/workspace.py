"""`fleet init`: a workspace outside the repository. Nothing in it copies fleet: the installed package brings all it needs."""

from __future__ import annotations

from pathlib import Path

from fleet.errors import DeviceError
from fleet.isa.scaffold.render import render_folder, write_all

__all__ = ["example_device", "new_workspace"]


def example_device() -> str:
    """The device for the example: of installed sets with hardware the one with the fewest ports. Raises DeviceError for none."""
    from fleet.isa.registry import instruction_sets

    known = [d for s in instruction_sets().values() if s.rtl is not None and s.loader is not None for d in s.devices.values()]
    known = known or [d for s in instruction_sets().values() for d in s.devices.values()]
    if not known:
        raise DeviceError("no device is installed", hint="see `fleet devices`")
    return min(known, key=lambda d: (d.parameters["HbmPorts"], d.name)).name


def new_workspace(folder: Path, device: str) -> list[Path]:
    """Writes the workspace into `folder` (made when it is not there); returns the files.

    device: of the example's case. Raises FleetError, with nothing written, where one of the files is there.
    """
    title = folder.resolve().name or "workspace"
    return write_all(folder, render_folder("workspace", {"title": title, "device": device}))
