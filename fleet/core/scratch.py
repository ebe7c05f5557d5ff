"""Temporary folders that go with the process: at its end or, where it was killed, when the next one begins."""

from __future__ import annotations

import fcntl
import os
import shutil
import tempfile
import time
import weakref
from pathlib import Path
from types import TracebackType
from typing import IO

_PREFIX, _LOCK = "fleet-", ".in-use"
_MADE_BY_NOW = 10.0
"""Seconds after which a folder has its lock; a younger one is left alone."""
_swept: set[tuple[int, Path]] = set()


class Scratch:
    """A temporary folder, `path`, until `close`; as a context manager it yields the path.

    A file in it is locked as long as the process lives, whatever ends it. Unlike a process id, a lock means the same in every
    container that shares the folder.
    """

    def __init__(self, name: str, home: Path | str | None = None) -> None:
        """Args:
        name: what it is for; it stands in the folder's name.
        home: where it is made; None: where temporary files go.

        What killed processes left in `home` is removed, once a process. Raises OSError.
        """
        home = Path(home or tempfile.gettempdir())
        if (os.getpid(), home) not in _swept:
            _swept.add((os.getpid(), home))
            _sweep(home)
        self.path = Path(tempfile.mkdtemp(prefix=f"{_PREFIX}{name}-", dir=home))
        try:
            lock = (self.path / _LOCK).open("wb")
            fcntl.flock(lock, fcntl.LOCK_EX)
        except BaseException:
            shutil.rmtree(self.path, ignore_errors=True)
            raise
        self._finalizer = weakref.finalize(self, _remove, self.path, lock, os.getpid())

    def close(self) -> None:
        """Remove it; may be called twice."""
        self._finalizer()

    def __enter__(self) -> Path:
        return self.path

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        self.close()


def _remove(path: Path, lock: IO[bytes], owner: int) -> None:
    if os.getpid() == owner:  # not in a fork
        shutil.rmtree(path, ignore_errors=True)
    lock.close()


def _sweep(home: Path) -> None:
    """Remove folders whose lock nobody holds; one that cannot be looked at is another user's."""
    for folder in home.glob(f"{_PREFIX}*"):
        try:
            if time.time() - folder.stat().st_mtime < _MADE_BY_NOW:
                continue
            with (folder / _LOCK).open("rb") as lock:
                fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
                shutil.rmtree(folder, ignore_errors=True)
        except OSError:
            continue
