"""Base of the results of a co-simulation and of a generation: a strict, versioned JSON file with an `.npz` beside it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import ClassVar, Self

import numpy as np

from fleet.core.codec import NOT_STORED, Json
from fleet.core.files import RecordPair


@dataclass(frozen=True, kw_only=True)
class StoredResult:
    """A complete outcome that can be written and read back. `arrays` lie in the `.npz`, everything else in the JSON.

    The JSON names the `.npz` and its SHA-256 and is renamed into place last.
    """

    JSON: ClassVar[str]
    """Name of the JSON file in a result's folder."""
    STORED_AS: ClassVar[tuple[str, int, str, str]]
    """Name in messages, version of the JSON form, the command that writes it, what to do with a file that cannot be read."""

    arrays: Mapping[str, np.ndarray] = field(default_factory=dict[str, np.ndarray], compare=False, repr=False, metadata=NOT_STORED)

    @classmethod
    def _form(cls) -> RecordPair[Self]:
        name, schema, made_by, again = cls.STORED_AS
        return RecordPair(cls, name, schema, made_by=made_by, again=again)

    def to_json(self) -> dict[str, Json]:
        """Return JSON values without the arrays; `schema` is the version."""
        return self._form().table(self)

    @classmethod
    def from_json(cls, value: object, where: str = "<result>", arrays: Mapping[str, np.ndarray] | None = None) -> Self:
        """Invert `to_json`. Raises ModelError if the version or a field does not fit."""
        return replace(cls._form().record(value, where), arrays=dict(arrays or {}))

    def save(self, folder: Path, beside: Mapping[Path, str] | None = None) -> Path:
        """Write the JSON and its `.npz` into `folder`; return the JSON's path. An old result stays whole until the end.

        beside: path -> text of files (a report's) that are replaced together with the JSON, or not at all.
        """
        return self._form().save(folder / self.JSON, self, self.arrays, beside)

    @classmethod
    def load(cls, path: Path) -> Self:
        """Read the JSON (or the folder that holds it) and its `.npz`. Raises ModelError if it is not a complete result."""
        result, arrays = cls._form().load(path / cls.JSON if path.is_dir() else path)
        return replace(result, arrays=arrays)
