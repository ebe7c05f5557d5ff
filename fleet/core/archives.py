"""Claims of .npz and .npy files, checked against the available memory before anything is read."""

from __future__ import annotations

import zipfile
from pathlib import Path
from typing import IO

import numpy as np

from fleet.core.room import archive_limit, bytes_of, check_room
from fleet.errors import ModelError


def check_archive(source: Path | IO[bytes], where: str) -> None:
    """Refuse arrays whose headers claim more than there is room for, or than the file holds.

    source: a .npz or a .npy; anything else is left to who reads it. A stream stands at its begin afterwards.
    Raises ModelError; OSError, ValueError, zlib.error and zipfile.BadZipFile for a file that is damaged.
    """
    if isinstance(source, Path):
        with source.open("rb") as file:
            return check_archive(file, where)
    stored = source.seek(0, 2)
    source.seek(0)
    if not zipfile.is_zipfile(source):
        source.seek(0)
        check_room(_claimed(source, stored, where), "the array", where=where)
    else:
        with zipfile.ZipFile(source) as archive:
            members = archive.infolist()
            check_room(sum(m.file_size for m in members), "what the archive unpacks to", where=where, most=archive_limit(stored))
            for member in members:
                with archive.open(member) as file:
                    size = _claimed(file, member.file_size, f"{where}: {member.filename}")
                check_room(size, f"array {member.filename}", where=where)
    source.seek(0)
    return None


def _claimed(file: IO[bytes], held: int, where: str) -> int:
    """Return the size in bytes of a .npy header's array; 0 if it is no header. Raises ModelError if the file is shorter."""
    try:
        version = np.lib.format.read_magic(file)
        read = np.lib.format.read_array_header_1_0 if version == (1, 0) else np.lib.format.read_array_header_2_0
        shape, _, dtype = read(file)
    except ValueError:
        return 0  # not an array, or of objects: who reads it says so
    size = bytes_of(shape, dtype)
    if size > held and not dtype.hasobject:
        raise ModelError(f"its header says {dtype}{list(shape)}, {size:,} bytes, and it holds {held:,}", where=where)
    return size
