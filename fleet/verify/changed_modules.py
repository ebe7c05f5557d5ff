"""Modules that this process imports otherwise than they stand on the disk: mutants, and sources with marks.

Imports the standard library alone: a mutant's process installs it before anything else of fleet.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Sequence
from importlib.abc import Loader, MetaPathFinder
from importlib.machinery import ModuleSpec, PathFinder
from pathlib import Path
from types import ModuleType


def change_modules(loader: Callable[[ModuleSpec, Loader], Loader | None]) -> None:
    """Find modules as Python does, with another loader for some. loader: of a found module and its own loader; None: keep that."""
    sys.meta_path.insert(0, _ChangedModules(loader))


def file_of(spec: ModuleSpec) -> str | None:
    """Return the resolved path of a module's source file, or None."""
    return str(Path(spec.origin).resolve()) if spec.origin is not None and spec.has_location else None


class _ChangedModules(MetaPathFinder):
    def __init__(self, loader: Callable[[ModuleSpec, Loader], Loader | None]) -> None:
        self._loader = loader

    def find_spec(self, fullname: str, path: Sequence[str] | None, target: ModuleType | None = None) -> ModuleSpec | None:
        spec = PathFinder.find_spec(fullname, path, target)
        if spec is None or spec.loader is None:
            return None
        changed = self._loader(spec, spec.loader)
        if changed is None:
            return None
        spec.loader = changed
        return spec
