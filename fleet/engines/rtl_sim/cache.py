"""The cache of built simulations, and the lock by which two runs do not build the same one."""

from __future__ import annotations

import fcntl
import os
import re
import tempfile
from collections.abc import Callable, Generator
from contextlib import contextmanager
from pathlib import Path

from fleet.core.cache import cache_root
from fleet.errors import SetupError

_PLAIN = re.compile(r"[A-Za-z0-9_./+@,-]+\Z")
"""make, and the makefiles that Verilator writes, cannot stand blanks and some other characters in paths."""


def is_plain(path: Path) -> bool:
    """Return whether make can handle the path."""
    return bool(_PLAIN.match(str(path)))


def cache_folder() -> Path:
    """The cache of simulations, `rtl` in fleet's cache, made if it is missing.

    Where that path has blanks or other characters that make cannot stand, a private folder under the temporary directory
    takes its place. Raises SetupError when neither can be written.
    """
    root = cache_root()
    shared = not is_plain(root)
    if shared:
        root = Path(tempfile.gettempdir()).absolute() / f"fleet-cache-{os.getuid()}"
        if not is_plain(root):
            root = Path("/tmp") / root.name
    folder = root / "rtl"
    try:
        root.mkdir(parents=True, exist_ok=True, mode=0o700)
        if shared and (root.is_symlink() or root.stat().st_uid != os.getuid()):
            raise PermissionError(f"{root} belongs to another user")  # anyone may write to the temporary directory
        folder.mkdir(exist_ok=True)
        with tempfile.TemporaryFile(dir=folder):
            pass
    except OSError as error:
        raise SetupError(
            f"cannot write the cache folder ({error})", where=str(folder), hint="set FLEET_CACHE to a folder"
        ) from error
    return folder


@contextmanager
def locked(path: Path, waiting: Callable[[], None]) -> Generator[None]:
    """Holds an exclusive lock on file `path`; calls `waiting` about twice a second while another process holds it."""
    import time

    with path.open("w") as f:
        while True:
            try:
                fcntl.flock(f, fcntl.LOCK_EX | fcntl.LOCK_NB)
                break
            except BlockingIOError:
                waiting()
                time.sleep(0.5)
        yield
