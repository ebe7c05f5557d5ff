"""What a replay found, kept beside its wave, for those who ask later (`fleet why`)."""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path

from fleet.core.codec import decode, encode
from fleet.core.files import write_atomically
from fleet.errors import ModelError

__all__ = ["RECORD", "AccountPart", "ReplayRecord"]

RECORD = "replay.json"

AccountPart = tuple[str, tuple[str, ...]]
"""Title and lines of a part of the page."""


@dataclass(frozen=True)
class ReplayRecord:
    """A replay.

    Attributes:
        verdict: "pass", "fail", "incomplete" or "bench".
        title: top and test.
        command: runs it again.
        reasons: differences and broken rules, one line each.
        parts: of the page, of a difference from the functional model.
        wave: its file, "" if there is none.
    """

    verdict: str
    title: str
    command: str
    reasons: tuple[str, ...]
    parts: tuple[AccountPart, ...]
    wave: str

    def save(self, folder: Path) -> Path:
        """Write it into a folder."""
        path = folder / RECORD
        write_atomically(path, json.dumps(encode(self), indent=1).encode())
        return path

    @staticmethod
    def load(path: Path) -> ReplayRecord:
        """Read a stored replay. Raises ModelError if the file is not one."""
        try:
            table = json.loads(path.read_text(encoding="utf-8"))
        except (OSError, ValueError) as error:
            raise ModelError(f"not a stored replay ({error})", where=str(path)) from error
        return decode(ReplayRecord, table, str(path))
