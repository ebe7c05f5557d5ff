"""Turns one module of this process, and of its child processes, into a mutant. No file changes.

`environment` returns the variables for a fresh process. There, `site/sitecustomize.py` calls `install` before anything of fleet is
imported. The loader changes the module's source; byte code is neither read nor written.
"""

from __future__ import annotations

import json
import os
from importlib.abc import Loader
from importlib.machinery import ModuleSpec, SourceFileLoader
from pathlib import Path
from types import CodeType

from fleet.verify.changed_modules import change_modules, file_of

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
    """Replace characters `start` to `end` (`before`) of `file` by `after` when this process imports it."""
    name = str(file.resolve())

    def loader(spec: ModuleSpec, own: Loader) -> Loader | None:
        del own
        return _Loader(spec.name, str(spec.origin), (start, end), before, after) if file_of(spec) == name else None

    change_modules(loader)


class _Loader(SourceFileLoader):
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
