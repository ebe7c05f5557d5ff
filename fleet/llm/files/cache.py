"""Folders for published models in fleet's cache."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import IO

from fleet.core.cache import cache_root
from fleet.core.files import replacing
from fleet.errors import SetupError


def models_folder() -> Path:
    """Return `models` in fleet's cache; the folder may not exist."""
    return cache_root() / "models"


def model_file(name: str, suffix: str = ".gguf") -> Path:
    """Return the path of a fetched model's file."""
    return models_folder() / f"{name}{suffix}"


def store(path: Path, write: Callable[[IO[bytes]], None]) -> None:
    """Write a file atomically; creates its folders. Raises SetupError if the folder cannot be written."""
    with replacing(path, kind=SetupError, hint="free room or set FLEET_CACHE to another folder") as file:
        write(file)
