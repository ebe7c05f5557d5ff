"""Turns one module of this process, and of its child processes, into a mutant. No file changes.

`environment` returns the variables for a fresh process. There, `site/sitecustomize.py` calls `install` before anything of fleet is
imported. The loader changes the module's source; byte code is neither read nor written.
"""

from __future__ import annotations

import importlib.machinery
import json
import os
import sys
from collections.abc import Sequence
from importlib.abc import MetaPathFinder
from pathlib import Path
from types import CodeType, ModuleType

__all__ = ["VARIABLE", "environment", "install", "mutate"]

VARIABLE = "FLEET_PYTHON_MUTANT"
_SITE = Path(__file__).parent / "site"


def environment(file: Path, start: int, end: int, before: str, after: str) -> dict[str, str]:
    """Return the environment of a process in which characters `start` to `end` of `file` (`before`) become `after`."""
    path = os.pathsep.join(p for p in (str(_SITE), os.environ.get("PYTHONPATH", "")) if p)
    chosen = {"file": str(file.resolve()), "start": start, "end": end, "before": before, "after": after}
    return {**os.environ, "PYTHONPATH": path, VARIABLE: json.dumps(chosen)}


def install() -> None:
    """Install the change that the variable describes, if it is set."""
    text = os.environ.get(VARIABLE)
    if text:
        chosen = json.loads(text)
        mutate(Path(chosen["file"]), chosen["start"], chosen["end"], chosen["before"], chosen["after"])


def mutate(file: Path, start: int, end: int, before: str, after: str) -> None:
    """When this process imports `file`, replace its characters `start` to `end` (`before`) by `after`."""
    sys.meta_path.insert(0, _Finder(str(file.resolve()), start, end, before, after))


class _Finder(MetaPathFinder):
    """Finds modules as Python does, with another loader for the changed file."""

    def __init__(self, file: str, start: int, end: int, before: str, after: str) -> None:
        self._file, self._span, self._before, self._after = file, (start, end), before, after

    def find_spec(
        self, fullname: str, path: Sequence[str] | None, target: ModuleType | None = None
    ) -> importlib.machinery.ModuleSpec | None:
        spec = importlib.machinery.PathFinder.find_spec(fullname, path, target)
        if spec is None or spec.origin is None or not spec.has_location or str(Path(spec.origin).resolve()) != self._file:
            return None
        spec.loader = _Loader(fullname, spec.origin, self._span, self._before, self._after)
        return spec


class _Loader(importlib.machinery.SourceFileLoader):
    def __init__(self, name: str, path: str, span: tuple[int, int], before: str, after: str) -> None:
        super().__init__(name, path)
        self._span, self._before, self._after = span, before, after

    def get_code(self, fullname: str) -> CodeType | None:
        """Compile the changed source; never use cached byte code."""
        source = Path(self.path).read_text(encoding="utf-8")
        start, end = self._span
        if source[start:end] != self._before:
            raise ImportError(f"{self.path} is not the file that the mutant was made of")
        return compile(source[:start] + self._after + source[end:], self.path, "exec", dont_inherit=True)
