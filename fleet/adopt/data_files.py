"""Files that a design reads when it starts, weights and programs: where they are, and where a simulation must have them.

A simulator opens them relative to the folder that it runs in, which is not where they lie: without them a memory is all zeros.
"""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterator
from pathlib import Path

from fleet.adopt.filelist import Sources
from fleet.adopt.ports import Top
from fleet.errors import DeviceError

_ABOVE = 3


def find_data(name: str, source: Path, sources: Sources) -> Path | None:
    """The file of a name that a source says. It is looked for in data_dirs, beside the source, the lists and what they include."""
    return next((path.absolute() for path in _places(name, source, sources) if path.is_file()), None)


def _places(name: str, source: Path, sources: Sources) -> Iterator[Path]:
    folders = dict.fromkeys((*sources.data_dirs, source.parent, *(p.parent for p in sources.lists), *sources.include_dirs))
    yield from (Path(os.path.normpath(folder / name)) for folder in (*folders, *source.parent.parents[:_ABOVE]))
    yield from (folder / Path(name).name for folder in folders)


def place_data(top: Top, folder: Path, *, copy: bool = False) -> None:
    """Put what a design reads into the folder that it runs in, as links or copies. Raises DeviceError for a name that leads out."""
    for data in top.data:
        if data.path is None or Path(data.name).is_absolute():
            continue
        name = os.path.normpath(data.name)
        if name.startswith(".."):
            raise DeviceError(
                f"the design reads {data.name}, outside of the folder that it runs in", where=data.where,
                hint="give it another name by a parameter or a define",
            )  # fmt: skip
        target = folder / name
        target.parent.mkdir(parents=True, exist_ok=True)
        target.unlink(missing_ok=True)
        if copy:
            shutil.copyfile(data.path, target)
        else:
            target.symlink_to(data.path)
