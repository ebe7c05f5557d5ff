"""The identity of a design that was read: one hash over everything that its meaning depends on."""

from __future__ import annotations

import hashlib
from pathlib import Path

from fleet.adopt.filelist import Sources
from fleet.adopt.ports import Top
from fleet.errors import DeviceError


def closure_hash(top: Top, sources: Sources) -> str:
    """SHA-256, hexadecimal, over the files of the closure, parameters, defines and the reader.

    Of files base names and contents count, in compile order; what the design reads when it starts, too. Folders do not: a checkout
    elsewhere has the same hash.
    Raises DeviceError for a file that cannot be read.
    """
    whole = hashlib.sha256()
    words = [top.name, top.tool]
    words += [f"parameter {p.name}={p.value}" for p in top.parameters]
    words += [f"define {name}={value}" for name, value in sorted(sources.defines)]
    for word in words:
        whole.update(f"{len(word.encode())} {word}\n".encode())
    for path in (*top.files, *sorted(top.included, key=lambda p: (p.name, _contents(p)))):
        contents = _contents(path)
        whole.update(f"file {len(path.name.encode())} {path.name} {len(contents)}\n".encode())
        whole.update(contents)
    for data in top.data:
        contents = _contents(data.path) if data.path is not None else b""
        whole.update(f"data {len(data.name.encode())} {data.name} {len(contents)}\n".encode())
        whole.update(contents)
    return whole.hexdigest()


def _contents(path: Path) -> bytes:
    try:
        return path.read_bytes()
    except OSError as error:
        raise DeviceError(f"cannot be read ({error.strerror})", where=str(path)) from error
