"""The sources of a design as a folder that can be passed on: copies of its files, byte by byte, and a list of them."""

from __future__ import annotations

import os
import shutil
from collections.abc import Sequence
from pathlib import Path

from fleet.adopt.vhdl import made_folder
from fleet.adopt.workspace import AdoptWorkspace
from fleet.errors import DeviceError

_FOLDER = "design"


def copy_design(work: AdoptWorkspace, folder: Path) -> Sequence[str]:
    """Copy all files that the design needs below `design` of a folder; returns the lines of a file list, relative to the folder.

    Files keep their places to each other, so that what they include is found; Verilog that was made of VHDL lies in `made`.
    Raises DeviceError for a file that cannot be read.
    """
    top, sources = work.top, work.sources
    needed = list(dict.fromkeys((*sources.waivers, *top.files, *top.included, *sources.cpp)))
    made = [p for p in needed if p.is_relative_to(made_folder())]
    own = [p for p in needed if p not in made]
    dirs = [p for p in sources.include_dirs if any(file.is_relative_to(p) for file in own)]
    shared = Path(os.path.commonpath([*(p.parent for p in own), *dirs])) if own else Path("/")
    place = {p: Path(_FOLDER) / p.relative_to(shared) for p in own} | {p: Path(_FOLDER) / "made" / p.name for p in made}
    shutil.rmtree(folder / _FOLDER, ignore_errors=True)
    for path, copy in place.items():
        target = folder / copy
        target.parent.mkdir(parents=True, exist_ok=True)
        try:
            shutil.copyfile(path, target)
        except OSError as error:
            raise DeviceError(f"cannot be copied ({error.strerror})", where=str(path)) from error
    lines = [f"+incdir+{Path(_FOLDER) / p.relative_to(shared)}" for p in dirs]
    lines += [f"+define+{name}={value}" if value else f"+define+{name}" for name, value in sources.defines]
    lines += [f"-v {place[p]}" for p in top.files if p in sources.library_files]
    return [*lines, *(str(place[p]) for p in (*sources.waivers, *top.files, *sources.cpp) if p not in sources.library_files)]
