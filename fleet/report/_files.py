"""Writing several files so that a reader sees all of the old ones or all of the new ones."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Mapping
from pathlib import Path

from fleet.errors import FleetError

__all__ = ["write_together"]


def write_together(files: Mapping[Path, str]) -> None:
    """Writes every file under a temporary name beside its place, then renames all, in the order given.

    Nothing is renamed before everything is on the disk, so an interruption or a full disk leaves the old files whole.
    Raises FleetError where the folder cannot be written.
    """
    waiting: list[tuple[str, Path]] = []
    path = Path()
    try:
        for path, text in files.items():
            path.parent.mkdir(parents=True, exist_ok=True)
            fd, temporary = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name}.", suffix=".tmp")
            waiting.append((temporary, path))
            with os.fdopen(fd, "w", encoding="utf-8", errors="replace", newline="\n") as f:
                f.write(text)
                f.flush()
                os.fsync(f.fileno())
            Path(temporary).chmod(0o644)
        while waiting:
            temporary, path = waiting[0]
            os.replace(temporary, path)
            waiting.pop(0)
    except OSError as error:
        reason = error.strerror or str(error)
        raise FleetError(
            f"the report cannot be written ({reason})", where=str(path), hint="the old report, if any, was left as it was"
        ) from error
    finally:
        for temporary, _ in waiting:
            Path(temporary).unlink(missing_ok=True)
