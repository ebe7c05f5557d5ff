"""`fleet isa new --extends`: a set in a package of its own that has all of an installed one, and room for more."""

from __future__ import annotations

from pathlib import Path

from fleet.isa.checking.files import generated_folder
from fleet.isa.export import export
from fleet.isa.extending import inherited_device
from fleet.isa.registry import find_instruction_set
from fleet.isa.scaffold.home import home_of
from fleet.isa.scaffold.new_set import check_new_set, write_modules
from fleet.isa.scaffold.render import render_folder, write_all


def new_extension(name: str, base: str, folder: Path) -> list[Path]:
    """Writes `folder/<name>/`; returns the files. Raises DeviceError for a name that is taken or a base that is not installed.

    Hardware: that of the base, with the package and registers generated from what is extended. It refuses the new instructions
    until a file in `rtl` that stands in for one of the base's knows them.
    """
    check_new_set(name)
    below = find_instruction_set(base)
    home = home_of(below)
    hardware = below.rtl is not None and (generated_folder(below) is not None or below.rtl.written != below.rtl.sources)
    devices = ", ".join(f"`{inherited_device(name, d)}`" for d in below.devices)
    values = {
        "name": name, "base": base, "home": home.package if home else "", "vector": home is not None, "hardware": hardware,
        "devices": devices,
    }  # fmt: skip
    texts = render_folder("extension", values)
    package = folder / name / name
    if home is not None and home.lanes is not None:
        texts[f"{name}/rtl/{home.lanes.name}"] = home.lanes.read_text(encoding="utf-8")
    files = write_all(folder / name, texts)
    rdl = package / f"{name}.rdl"
    modules = write_modules(rdl) if home is not None else []
    return [*files, *modules, *(export(rdl, package / "rtl" / "generated") if hardware else ())]
