"""Planting a fault: a copy of the project, an edit that must match exactly once, the real command line, what it must say."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

PROJECT = Path(__file__).resolve().parents[2]
_COPIED = ("fleet", "rtl_models", "examples", "golden", "sim", "tests", "pyproject.toml")
_TIMEOUT_S = 900


@dataclass(frozen=True)
class Edit:
    """Text that stands exactly once in a file, and what takes its place. file: relative to the project."""

    file: str
    old: str
    new: str


@dataclass(frozen=True)
class Fault:
    """One fault.

    Attributes:
        name: for the test's id; what: in words, for the table.
        edits: what is planted. plant: what no edit of text can do, called with the copy.
        command: arguments of `python -m`; the command of the control, unless the fault says otherwise.
        found_by: what has to find it, in the words of the output; places: patterns that must stand in the output, the last of
            which is the place that the table shows.
        code: the exit code.
        nightly: needs a build of the hardware, or time, that the quick set does not have.
    """

    name: str
    what: str
    command: tuple[str, ...]
    found_by: str
    places: tuple[str, ...]
    edits: tuple[Edit, ...] = ()
    plant: Callable[[Project], None] | None = None
    code: int = 1
    nightly: bool = False

    @property
    def planted_in(self) -> str:
        """For the table."""
        return ", ".join(dict.fromkeys(e.file for e in self.edits)) or "data"


@dataclass(frozen=True)
class Outcome:
    """Of a command: exit code, standard output and error together, seconds."""

    code: int
    text: str
    seconds: float


class Project:
    """A copy of the project under `folder`, whose own sources the commands import."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    @classmethod
    def copy(cls, folder: Path, source: Path = PROJECT) -> Project:
        """Copies what commands need; byte code too, which is valid as long as its source is not edited."""
        for name in _COPIED:
            path = source / name
            if path.is_dir():
                shutil.copytree(path, folder / name, symlinks=True)
            elif path.exists():
                folder.mkdir(parents=True, exist_ok=True)
                shutil.copy2(path, folder / name)
        return cls(folder)

    def edited(self, edit: Edit) -> str:
        """The file's text after an edit. AssertionError when the old text does not stand there exactly once.

        Otherwise the fault would be another, or none, once the code has moved.
        """
        text = (self.folder / edit.file).read_text(encoding="utf-8")
        found = text.count(edit.old)
        assert found == 1, f"{edit.file}: the text to edit stands there {found} times, expected once: {edit.old!r}"
        assert edit.old != edit.new, f"{edit.file}: the edit changes nothing"
        return text.replace(edit.old, edit.new)

    def edit(self, edit: Edit) -> None:
        """Plants one edit."""
        path = self.folder / edit.file
        path.write_text(self.edited(edit), encoding="utf-8")
        for compiled in (path.parent / "__pycache__").glob(f"{path.stem}.*"):
            compiled.unlink()

    def run(self, *module: str) -> Outcome:
        """`python -m ...` in the copy."""
        environment = {**os.environ, "PYTHONPATH": str(self.folder), "COLUMNS": "200"}
        for name in ("PYTEST_ADDOPTS", "PYTEST_CURRENT_TEST", "PYTEST_XDIST_WORKER"):
            environment.pop(name, None)
        begun = time.monotonic()
        process = subprocess.run(
            [sys.executable, "-m", *module],
            cwd=self.folder, env=environment, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
            text=True, timeout=_TIMEOUT_S, check=False,
        )  # fmt: skip
        return Outcome(process.returncode, process.stdout, time.monotonic() - begun)


def check(fault: Fault, outcome: Outcome) -> str:
    """Holds the outcome against what the fault must lead to. Returns the place, as the output names it."""
    told = f"\n--- {fault.what}; the command said:\n{outcome.text}"
    assert outcome.code == fault.code, f"exit code {outcome.code}, expected {fault.code}{told}"
    assert "Traceback" not in outcome.text, f"a traceback{told}"
    assert fault.found_by in outcome.text, f"'{fault.found_by}' did not find it{told}"
    place = ""
    for pattern in fault.places:
        match = re.search(pattern, outcome.text)
        assert match is not None, f"the output does not name /{pattern}/{told}"
        place = match[0].strip()
    return place
