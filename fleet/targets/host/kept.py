"""Machine code of this processor, kept between processes in the cache's folder `host`.

An entry is the object of one LLVM module for one processor and one LLVM, with its SHA-256; a damaged one is made again.
"""

from __future__ import annotations

import hashlib
import os
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any

from fleet.core.cache import cache_root
from fleet.core.files import write_atomically
from fleet.errors import FleetError
from fleet.ir.schedule import Schedule

_DIGEST = hashlib.sha256().digest_size


@dataclass(frozen=True)
class KeptCode:
    """The place of one module's code. code: what was there, or None."""

    path: Path
    code: bytes | None

    def attach(self, engine: Any) -> None:
        """Let an execution engine of llvmlite take its code from here, or leave it here."""
        engine.set_object_cache(notify_func=self._keep, getbuffer_func=lambda _module: self.code)

    def _keep(self, _module: Any, code: bytes) -> None:
        keep(self.path, code)


def kept_code(llvm_ir: str, processor: str, features: str, schedule: Schedule) -> KeptCode:
    """Look a module up by its text, the processor it is for and how its loops are arranged."""
    key = hashlib.sha256(f"{_tools()}\n{processor} {features} {schedule}\n{llvm_ir}".encode()).hexdigest()
    path = kept_path(f"{key}.o")
    return KeptCode(path, kept(path))


def kept_path(name: str) -> Path:
    """Return the path of an entry by its name."""
    return cache_root() / "host" / name


def kept(path: Path) -> bytes | None:
    """Return the content of an entry, or None if it is not there or damaged."""
    try:
        blob = path.read_bytes()
        os.utime(path)  # whoever tidies the cache sees that it is used
    except OSError:
        return None
    content, digest = blob[:-_DIGEST], blob[-_DIGEST:]
    return content if hashlib.sha256(content).digest() == digest else None


def keep(path: Path, content: bytes) -> None:
    """Write an entry, with its SHA-256. A cache that cannot be written costs time and nothing else."""
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        write_atomically(path, content + hashlib.sha256(content).digest())
    except (OSError, FleetError):
        return


@lru_cache(maxsize=1)
def _tools() -> str:
    import llvmlite
    import llvmlite.binding as llvm

    return f"llvmlite {llvmlite.__version__} LLVM {llvm.llvm_version_info} large"
