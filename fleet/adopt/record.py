"""The findings of a replay, stored beside its wave for `fleet why`."""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path

from fleet.core.codec import decode, encode
from fleet.core.files import write_atomically
from fleet.core.json_text import read_json

RECORD = "replay.json"

AccountPart = tuple[str, tuple[str, ...]]
"""Title and lines of a part of the page."""


@dataclass(frozen=True)
class ReplayRecord:
    """A replay.

    Attributes:
        verdict: "pass", "fail", "incomplete" or "bench".
        title: top and test.
        arguments: of `fleet`, which run it again.
        reasons: differences and broken rules, one line each.
        parts: of the page, of a difference from the functional model.
        wave: path of the wave file, or the reason why no file was written; may be "".
    """

    verdict: str
    title: str
    arguments: tuple[str, ...]
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
        return decode(ReplayRecord, read_json(path, "not a stored replay"), str(path))
