"""A log in named parts: lines are kept until they are written to a file."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from fleet.core.files import write_atomically

__all__ = ["GET_LOG", "LOG_CLEAR", "LOG_EXPORT", "LOG_WITH_PREFIX"]

_PARTS: dict[str, list[str]] = {}


def LOG_WITH_PREFIX(prefix: str, log: object) -> None:
    """Add text to the part with that name."""
    _PARTS.setdefault(prefix, []).append(str(log))


def LOG_CLEAR() -> None:
    """Clear the log."""
    _PARTS.clear()


def GET_LOG() -> Mapping[str, list[str]]:
    """Return part -> its texts, in order."""
    return _PARTS


def LOG_EXPORT(path: str | Path) -> None:
    """Write all parts, each below a line with its name. Raises FleetError if the file cannot be written."""
    lines = [line for name, texts in _PARTS.items() for line in (f"{f' {name} ':-^90}", *texts)]
    write_atomically(Path(path), "".join(f"{line}\n" for line in lines).encode())
