"""Planting a fault: a copy of the project, an edit that must match exactly once, the real command line, what it must say."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from fleet.isa.hardware import hardware_of
from fleet.isa.registry import instruction_sets

PROJECT = Path(__file__).resolve().parents[2]
COPIED = ("fleet", "rtl_models", "examples", "golden", "sim", "tests", "scripts", "pyproject.toml")
GENERATED = "rtl_models/generated/"
"""Where the text of a generated source lies in a copy, once a fault is planted into it: the build makes the others."""
_TIMEOUT_S = 900
_EXCERPT = 6
_BROKEN = ("the simulation crashed", "the simulation said nothing for", "the simulation did not get ready", "No space left")
"""What a run says that failed for another reason than the fault: it has found nothing."""


@dataclass(frozen=True)
class Edit:
    """Text that stands exactly once in a file, and what takes its place. file: relative to the project."""

    file: str
    old: str
    new: str


@dataclass(frozen=True)
class Choice:
    """An expression (Python, C++ or SystemVerilog) that stands exactly once in a file between `before` and `after`.

    All choices are planted at once into one copy, each with the number of its fault, and a run says which number is wrong
    (`schema.py`): one build of the hardware serves all of them. in_task: it stands in a SystemVerilog function that Verilator does
    not inline, which cannot see a variable from outside.
    """

    file: str
    right: str
    wrong: str
    before: str = ""
    after: str = ""
    in_task: bool = False


@dataclass(frozen=True)
class Fault:
    """One fault.

    Attributes:
        name: for the test's id; what: in words, for the table.
        command: arguments of `python -m`.
        found_by: what has to find it, in the words of the output.
        places: patterns that must stand in the output for the fault to count as localised; the last is the place that the table
            shows.
        at: the right place: number and name of the instruction, the operation, or the part of the harness.
        kind: the class of fault, a heading of the catalogue.
        edits: what is planted. plant: what no edit of text can do, called with the copy. choices: see `Choice`; not with edits.
        code: the exit code.
        needs: a program that the command runs and that not every machine has.
        nightly: needs time, or a build of the hardware of its own, that the quick set does not have.
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
    at: str = ""
    kind: str = ""
    choices: tuple[Choice, ...] = ()
    needs: str = ""

    @property
    def missing(self) -> bool:
        """Whether a program is not there that its command needs: it cannot be tried here."""
        return bool(self.needs) and shutil.which(self.needs) is None

    @property
    def passes_without(self) -> bool:
        """Whether the command must pass where the fault is not planted; not where the fault is in the command."""
        return bool(self.edits or self.choices) or (self.plant is not None and self.plant.__name__ != "in_the_command")

    @property
    def planted_in(self) -> str:
        """For the table."""
        return ", ".join(dict.fromkeys(e.file for e in (*self.edits, *self.choices))) or "data or command line"


def tests(path: str, *more: str) -> tuple[str, ...]:
    """pytest on a file of the copy."""
    return ("pytest", "-q", "-x", "-p", "no:cacheprovider", path, *more)


def by_test(name: str, what: str, file: str, test: str, *edits: Edit, only: bool = True, nightly: bool = False) -> Fault:
    """A fault of the harness that one test finds. only: nothing else of the file is run."""
    failed = f"FAILED {file}::{test}"
    command = tests(file, *(("-k", test) if only else ()))
    return Fault(name, what, command, failed, (failed,), edits, at=test, kind="harness", nightly=nightly)


@dataclass(frozen=True)
class Outcome:
    """Of a command: exit code, standard output and error together, seconds."""

    code: int
    text: str
    seconds: float


@dataclass(frozen=True)
class Verdict:
    """Of a fault that was planted: whether it was found and localised, what the output named, and why not.

    broken: the run failed for a reason of its own.
    """

    found: bool
    localised: bool
    named: str
    excerpt: str
    why: str
    broken: bool = False


def place_in_words(number: str, instruction: str) -> str:
    """Of an instruction, for the table. number: a pattern where several streams are run."""
    names = instruction.strip("()").replace("|", " or ")
    return f"instruction {number} {names}" if number.isdigit() else f"the first {names} that it reaches"


class Project:
    """A copy of the project under `folder`, whose own sources the commands import."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    @classmethod
    def copy(cls, folder: Path, source: Path = PROJECT) -> Project:
        """Copies what commands need; byte code too, which is valid as long as its source is not edited."""
        for name in COPIED:
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
        text = self.text(edit.file)
        found = text.count(edit.old)
        assert found == 1, f"{edit.file}: the text to edit stands there {found} times, expected once: {edit.old!r}"
        assert edit.old != edit.new, f"{edit.file}: the edit changes nothing"
        return text.replace(edit.old, edit.new)

    def text(self, file: str) -> str:
        """A file's text; of a generated source what the unedited project's build makes, unless one is planted already."""
        path = self.folder / file
        return generated_text(path.name) if file.startswith(GENERATED) and not path.exists() else path.read_text(encoding="utf-8")

    def edit(self, edit: Edit) -> None:
        """Plants one edit."""
        self.write(edit.file, self.edited(edit))

    def write(self, file: str, text: str) -> None:
        """Replaces a file, and forgets its byte code. A generated source becomes a file that the list of sources names."""
        path = self.folder / file
        if file.startswith(GENERATED) and not path.exists():
            path.parent.mkdir(exist_ok=True)
            (listing,) = (p for p in path.parents[1].glob("*/files.f") if f"\ngenerated/{path.name}\n" in p.read_text())
            listing.write_text(listing.read_text().replace(f"\ngenerated/{path.name}\n", f"\n./generated/{path.name}\n"))
        path.write_text(text, encoding="utf-8")
        for compiled in (path.parent / "__pycache__").glob(f"{path.stem}.*"):
            compiled.unlink()

    def run(self, *module: str, fault: int = 0) -> Outcome:
        """`python -m ...` in the copy; `fault`: the number of the choice that is wrong."""
        environment = {**os.environ, "PYTHONPATH": str(self.folder), "COLUMNS": "200", "FLEET_FAULT": str(fault)}
        for name in ("PYTEST_ADDOPTS", "PYTEST_CURRENT_TEST", "PYTEST_XDIST_WORKER"):
            environment.pop(name, None)
        begun = time.monotonic()
        process = subprocess.run(
            [sys.executable, "-m", *module],
            cwd=self.folder, env=environment, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
            text=True, timeout=_TIMEOUT_S, check=False,
        )  # fmt: skip
        return Outcome(process.returncode, self._without_paths(process.stdout), time.monotonic() - begun)

    def _without_paths(self, text: str) -> str:
        """Paths of the copy become those of the project; temporary ones, and those below the user's home, are left out."""
        text = text.replace(f"{self.folder}/", "").replace(str(self.folder), ".")
        places = "|".join(re.escape(p) for p in (tempfile.gettempdir(), sys.prefix, str(Path.home())))
        return re.sub(rf"({places})/[^\s:;,]*", "...", text)


def generated_text(name: str) -> str:
    """What the build of this project makes as the source of that name."""
    found = [p for s in instruction_sets().values() if (rtl := hardware_of(s)) is not None for p in rtl.files if p.name == name]
    assert len(found) == 1, f"{name}: {len(found)} installed sets have this source, expected one"
    return found[0].read_text(encoding="utf-8")


def keep_generated(project: Project, name: str) -> None:
    """The copy's hardware is built with this generated source as it was before any edit."""
    project.write(GENERATED + name, generated_text(name))


def judge(fault: Fault, outcome: Outcome) -> Verdict:
    """Whether the output is what the fault must lead to: found by the right check, and at the right place."""
    # Behind a quotation mark they are a source line that a traceback shows.
    broken = [f"the run itself broke: {words}" for words in _BROKEN if re.search(rf'(?<!"){re.escape(words)}', outcome.text)]
    why = list(broken)
    if outcome.code != fault.code:
        why.append(f"exit code {outcome.code}, expected {fault.code}")
    if "Traceback (most recent call last)" in outcome.text and "pytest" not in fault.command:
        why.append("a traceback")
    if fault.found_by not in outcome.text:
        why.append(f"'{fault.found_by}' did not find it")
    matches = [(pattern, re.search(pattern, outcome.text)) for pattern in fault.places]
    missed = [f"the output does not name /{pattern}/" for pattern, match in matches if match is None]
    last = matches[-1][1] if matches else None
    named = last[0].strip() if last is not None else ""
    starts = [m.start() for _, m in matches if m is not None] + [i for i in (outcome.text.find(fault.found_by),) if i >= 0]
    return Verdict(
        not why, not why and not missed, named, _excerpt(outcome.text, starts), "; ".join([*why, *missed]), bool(broken)
    )  # fmt: skip


def _excerpt(text: str, starts: list[int]) -> str:
    """The lines of the output that the verdict rests on."""
    numbers = sorted({text.count("\n", 0, start) for start in starts})[:_EXCERPT]
    lines = text.splitlines()
    return "\n".join(line if len(line) <= 200 else line[:197] + "..." for line in (lines[n].strip() for n in numbers))
