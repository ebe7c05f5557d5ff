"""Folders for published models in fleet's cache."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import IO

from fleet.core.cache import cache_root
from fleet.errors import SetupError

__all__ = ["model_file", "models_folder", "store"]


def models_folder() -> Path:
    """Return `models` in fleet's cache; the folder may not exist."""
    return cache_root() / "models"


def model_file(name: str, suffix: str = ".gguf") -> Path:
    """Return the path of a fetched model's file."""
    return models_folder() / f"{name}{suffix}"


def store(path: Path, write: Callable[[IO[bytes]], None]) -> None:
    """Write a file atomically; creates its folders. Raises SetupError if the folder cannot be written."""
    try:
        path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
        handle, temporary = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name}.")
        try:
            with os.fdopen(handle, "wb") as file:
                write(file)
            os.replace(temporary, path)
        except BaseException:
            Path(temporary).unlink(missing_ok=True)
            raise
    except OSError as error:
        raise SetupError(
            f"cannot be written ({error.strerror or error})", where=str(path), hint="free room or set FLEET_CACHE to another folder"
        ) from error
