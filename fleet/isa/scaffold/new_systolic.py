"""`fleet isa new --kind systolic`: an INT8 systolic array with on-chip memories and state registers, that works at once."""

from __future__ import annotations

from pathlib import Path

from fleet.errors import DeviceError
from fleet.isa.export import export
from fleet.isa.scaffold.new_set import check_new_set, write_modules
from fleet.isa.scaffold.render import render_folder, write_all


def new_systolic(name: str, folder: Path) -> list[Path]:
    """Writes `folder/<name>/` and what is generated from its description; returns the files.

    Raises DeviceError for a name that cannot be used or is taken, FleetError for files that are there.
    """
    check_new_set(name)
    texts = render_folder("systolic", {"name": name})
    if any(f"}} {name} @ " in text or f"}} {name};" in text for text in texts.values()):
        raise DeviceError("is the name of an instruction or a memory", where=name)
    files = write_all(folder / name, texts)
    rdl = folder / name / name / f"{name}.rdl"
    return [*files, *write_modules(rdl), *export(rdl, rdl.parent / "rtl" / "generated")]
