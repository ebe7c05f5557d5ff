"""What the tests of exports read, made once."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from pathlib import Path

from fleet.isa.description import Description
from fleet.isa.exports.formats import exported


def files_of(described: Description, form: str) -> Mapping[str, bytes]:
    """Every file of one format."""
    return _exported(described.path, form)


@cache
def _exported(path: Path, form: str) -> Mapping[str, bytes]:
    return exported(path, form)
