"""Hash of the code that determines a result, for caches: no kept result outlives the code that made it."""

from __future__ import annotations

import hashlib
from functools import cache
from pathlib import Path
from types import ModuleType


@cache
def code_digest(*modules: ModuleType | str) -> str:
    """Return the SHA-256 (hex) of the sources of modules; a string is a path (a module's own `__file__`)."""
    total = hashlib.sha256()
    for module in modules:
        path = module if isinstance(module, str) else module.__file__
        assert path is not None
        total.update(hashlib.sha256(Path(path).read_bytes()).digest())
    return total.hexdigest()
