"""A folder for images and jobs that goes with the process: at its end or, where it was killed, when the next one begins."""

from __future__ import annotations

import fcntl
import shutil
import tempfile
import time
from pathlib import Path

__all__ = ["Scratch"]

_PREFIX, _LOCK = "fleet-streams-", ".in-use"
_MADE_BY_NOW = 10.0
"""Seconds after which a folder has its lock; a younger one is left alone."""


class Scratch:
    """A temporary folder, `path`, until `close`. A file in it is locked as long as the process lives, whatever ends it."""

    def __init__(self, home: Path | None) -> None:
        """home: where it is made, None: wherever temporary files go. What killed processes left there is removed."""
        _sweep(home or Path(tempfile.gettempdir()))
        self._temporary = tempfile.TemporaryDirectory(prefix=_PREFIX, dir=home)
        self.path = Path(self._temporary.name)
        self._lock = (self.path / _LOCK).open("wb")
        fcntl.flock(self._lock, fcntl.LOCK_EX)

    def close(self) -> None:
        """Removes it; may be called twice."""
        self._lock.close()
        self._temporary.cleanup()


def _sweep(home: Path) -> None:
    """Removes folders whose lock nobody holds; one that cannot be looked at is another user's."""
    for folder in home.glob(f"{_PREFIX}*"):
        try:
            if time.time() - folder.stat().st_mtime < _MADE_BY_NOW:
                continue
            with (folder / _LOCK).open("rb") as lock:
                fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
                shutil.rmtree(folder, ignore_errors=True)
        except OSError:
            continue
