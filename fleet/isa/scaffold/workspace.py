"""`fleet init`: a workspace outside the repository. Nothing in it copies fleet: the installed package brings all it needs."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import fleet
from fleet.errors import DeviceError
from fleet.isa.scaffold.render import render_folder, write_all

EXAMPLES = ("add_sample.py", "digits/model.py", "digits/weights.npz", "digits/test.npz", "digits/labels.npz")
"""Files of examples/ that a workspace gets."""


def example_device() -> str:
    """The device for the example: of installed sets with hardware the one with the fewest ports. Raises DeviceError for none."""
    from fleet.isa.registry import instruction_sets

    known = [d for s in instruction_sets().values() if s.rtl is not None and s.loader is not None for d in s.devices.values()]
    known = known or [d for s in instruction_sets().values() for d in s.devices.values()]
    if not known:
        raise DeviceError("no device is installed", hint="see `fleet devices`")
    return min(known, key=lambda d: (d.parameters["HbmPorts"], d.name)).name


def new_workspace(folder: Path, device: str, ci: Sequence[str] = ()) -> list[Path]:
    """Write a workspace into `folder`, made if missing, and return the files. In a workspace, write the nightly jobs alone.

    device: of the example's case; ci: folders of templates/ci (github, gitlab, cron, slurm).
    Raises FleetError, with nothing written, if one of the files exists; what the jobs share may be there, unchanged.
    """
    place = folder.resolve()
    texts: dict[str, str | bytes] = {}
    if not ci or not (folder / "sim").is_dir():
        texts |= render_folder("workspace", {"title": place.name or "workspace", "device": device})
        texts |= {f"examples/{name}": data for name, data in _examples().items()}
    if ci:
        shared = render_folder("ci/all", {})
        texts |= {name: text for name, text in shared.items() if not _holds(folder / name, text)}
    for kind in dict.fromkeys(ci):
        texts |= render_folder(f"ci/{kind}", {"folder": str(place)})
    return write_all(folder, texts)


def _examples() -> dict[str, bytes]:
    """The files that the examples of the commands' help name, of a checkout or of the installed package."""
    package = Path(fleet.__file__).parent
    folder = next((f for f in (package / "_examples", package.parent / "examples") if f.is_dir()), None)
    return {} if folder is None else {name: (folder / name).read_bytes() for name in EXAMPLES}


def _holds(file: Path, text: str) -> bool:
    return file.is_file() and file.read_bytes() == text.encode()
