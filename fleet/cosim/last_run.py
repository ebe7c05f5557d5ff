"""The last co-simulation or answer of a working folder, kept automatically for `fleet why` and `fleet report --last`.

The cache holds one result per working folder: runs in another folder, or in a test's, do not replace it.
"""

from __future__ import annotations

import contextlib
import hashlib
import shutil
import time
from pathlib import Path
from typing import TYPE_CHECKING

from fleet.core.cache import cache_root
from fleet.core.files import copy_pair, write_atomically
from fleet.errors import FleetError, ModelError

if TYPE_CHECKING:
    from fleet.cosim.generation import GenerationResult
    from fleet.cosim.result import CosimResult

_DAYS = 30
_NAMES = ("result.json", "generation.json", "replay.json")


def kept_folder() -> Path:
    """Return the folder of this working folder's last result, whether it exists or not."""
    return cache_root() / "last" / hashlib.sha256(str(Path.cwd()).encode(errors="surrogateescape")).hexdigest()[:16]


def keep(result: CosimResult | GenerationResult, stored: Path | None = None) -> None:
    """Store a result in place of the previous one. If the cache cannot be written, the result is lost and the run does not fail.

    stored: where it was written already; it is copied from there, which takes a sixth of the time.
    """
    with contextlib.suppress(OSError, FleetError, RuntimeError):
        folder = kept_folder()
        written = result.save(folder) if stored is None else copy_pair(stored, folder)
        for name in _NAMES:
            if name != written.name:
                (folder / name).unlink(missing_ok=True)
        for other in folder.parent.iterdir():
            if time.time() - other.stat().st_mtime > _DAYS * 86400:
                shutil.rmtree(other, ignore_errors=True)


def keep_file(written: Path) -> None:
    """Copy a stored result in place of the previous one; if the cache cannot be written, it is lost and the run does not fail."""
    with contextlib.suppress(OSError, RuntimeError):
        folder = kept_folder()
        folder.mkdir(parents=True, exist_ok=True)
        for name in _NAMES:
            (folder / name).unlink(missing_ok=True)
        write_atomically(folder / written.name, written.read_bytes())


def kept() -> Path:
    """Return the folder with the last result. Raises ModelError if nothing ran in this working folder."""
    folder = kept_folder()
    if not any((folder / name).is_file() for name in _NAMES):
        raise ModelError("nothing ran in this folder yet", where=str(Path.cwd()), hint="run `fleet cosim` or `fleet try`")
    return folder
