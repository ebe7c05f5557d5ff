"""The last co-simulation or answer of a working folder, kept without being asked for: `fleet why`, `fleet report --last`.

One result a working folder, below the cache: runs in another folder, or in a test's, do not replace it.
"""

from __future__ import annotations

import contextlib
import hashlib
import shutil
import time
from pathlib import Path
from typing import TYPE_CHECKING

from fleet.core.cache import cache_root
from fleet.errors import FleetError, ModelError

if TYPE_CHECKING:
    from fleet.cosim.generation import GenerationResult
    from fleet.cosim.result import CosimResult

__all__ = ["keep", "kept", "kept_folder"]

_DAYS = 30
_NAMES = ("result.json", "generation.json")


def kept_folder() -> Path:
    """Where this working folder's last result is, or would be."""
    return cache_root() / "last" / hashlib.sha256(str(Path.cwd()).encode(errors="surrogateescape")).hexdigest()[:16]


def keep(result: CosimResult | GenerationResult) -> None:
    """Keeps a result in place of the one before. A cache that cannot be written loses it: a run does not fail for that."""
    with contextlib.suppress(OSError, FleetError, RuntimeError):
        folder = kept_folder()
        written = result.save(folder)
        for name in _NAMES:
            if name != written.name:
                (folder / name).unlink(missing_ok=True)
        for other in folder.parent.iterdir():
            if time.time() - other.stat().st_mtime > _DAYS * 86400:
                shutil.rmtree(other, ignore_errors=True)


def kept() -> Path:
    """The folder with the last result. Raises ModelError where nothing ran in this working folder."""
    folder = kept_folder()
    if not any((folder / name).is_file() for name in _NAMES):
        raise ModelError("nothing ran in this folder yet", where=str(Path.cwd()), hint="run `fleet cosim` or `fleet try`")
    return folder
