"""What the seeds promise, a row each: a command, what it must print, and whether that is what the seed has.

A command is a line for a shell that begins with a program of fleet, a test or a benchmark of the project, or Python; Python runs
after its group's `prelude`, and the value of its last expression is printed. All of it runs in a folder with `examples` and the
group's files.
"""

from __future__ import annotations

import ast
import json
import os
import re
import shlex
import sys
import tempfile
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import Literal

import warm

ROOT = Path(__file__).resolve().parents[2]
PROGRAMS: Mapping[str, str] = {
    "fleet": "fleet.cli.main",
    "fleet_compile_cli": "fleet.cli.seeds",
    "fleet_compiler_cli": "fleet.cli.seeds",
    "fleet-opt": "fleet.cli.opt",
}
"""Program -> the module whose `main` it is."""

State = Literal["works", "differs", "missing"]


@dataclass(frozen=True)
class Row:
    """One promise.

    Attributes:
        feature: as the seed names it.
        command: how to try it.
        gives: text that it prints; of a missing feature, of what is said instead.
        state: what became of it.
        why: of what differs or is missing: the reason.
        nightly: whether it takes too long for every day.
        fails: whether the command ends with an error; what is missing always does.
    """

    feature: str
    command: str
    gives: str
    state: State = "works"
    why: str = ""
    nightly: bool = False
    fails: bool = False


def works(feature: str, command: str, gives: str = "", *, nightly: bool = False, fails: bool = False) -> Row:
    """A feature as the seed has it, perhaps under another name."""
    return Row(feature, command, gives, nightly=nightly, fails=fails)


def differs(feature: str, command: str, gives: str, why: str, *, nightly: bool = False, fails: bool = False) -> Row:
    """A feature that is otherwise here on purpose."""
    return Row(feature, command, gives, "differs", why, nightly, fails)


def missing(feature: str, command: str, gives: str, why: str) -> Row:
    """A feature that is not here: the command fails, and says so."""
    return Row(feature, command, gives, "missing", why, fails=True)


@dataclass(frozen=True, eq=False)
class Group:
    """Rows of one seed or of one part of it.

    Attributes:
        name: short, for the tests' names.
        title: for the page.
        prelude: Python before each of its rows in Python.
        files: name -> text of what lies in the folder.
    """

    name: str
    title: str
    rows: tuple[Row, ...]
    prelude: str = ""
    files: Mapping[str, str] = field(default_factory=dict[str, str])


@dataclass(frozen=True)
class Ended:
    """How a command ended: its exit code, and what it wrote to either stream."""

    code: int
    text: str


def run(group: Group, row: Row) -> Ended:
    """Run a row's command; the parts between `&&` one after the other, as a shell does."""
    program = row.command.partition(" ")[0]
    if program not in PROGRAMS:
        return _python(group, row.nightly)[group.rows.index(row)]
    said = ""
    with _folder(group) as folder:
        for line in row.command.split(" && "):
            words = shlex.split(line)
            code = f"import sys; sys.argv[0] = {words[0]!r}; from {PROGRAMS[words[0]]} import main; sys.exit(main())"
            ended = _ended(["-c", code, *words[1:]], folder)
            said += ended.text
            if ended.code:
                return Ended(ended.code, said)
    return Ended(0, said)


def left_to(row: Row) -> tuple[Path, str] | None:
    """Return the file, and what stands in it, that a row is left to: a test of another room, or a benchmark; or None."""
    if found := re.fullmatch(r"pytest ([^:]+)::(\w+)", row.command):
        return ROOT / found[1], f"def {found[2]}("
    if found := re.fullmatch(r"python (benchmarks/\w+\.py)", row.command):
        return ROOT / found[1], "__main__"
    return None


@contextmanager
def _folder(group: Group) -> Iterator[Path]:
    with tempfile.TemporaryDirectory(prefix="fleet-seeds-") as name:
        folder = Path(name)
        (folder / "examples").symlink_to(ROOT / "examples")
        for file, text in group.files.items():
            (folder / file).write_text(text)
        yield folder


@cache
def _python(group: Group, nightly: bool) -> Mapping[int, Ended]:
    """Run the group's rows in Python in one process. Returns number of a row -> how it ended."""
    with _folder(group) as folder:
        (folder / "prelude.py").write_text(group.prelude)
        for n, row in enumerate(group.rows):
            if row.command.partition(" ")[0] not in PROGRAMS and not left_to(row) and row.nightly == nightly:
                (folder / f"row{n}.py").write_text(_shown(row.command) + "\n")
        ended = _ended(["-c", _ROWS], folder)
        assert ended.code == 0, ended.text
        found = json.loads((folder / "rows.json").read_text())
    return {int(n): Ended(code, text) for n, (code, text) in found.items()}


_ROWS = """
import contextlib, io, json, sys, traceback
from pathlib import Path
names = {"__name__": "__main__"}
exec(compile(Path("prelude.py").read_text(), "prelude.py", "exec"), names)
found = {}
for file in Path().glob("row*.py"):
    said, code = io.StringIO(), 0
    with contextlib.redirect_stdout(said), contextlib.redirect_stderr(said):
        try:
            exec(compile(file.read_text(), str(file.absolute()), "exec"), dict(names))
        except Exception:
            code = 1
            traceback.print_exc()
    found[file.stem[3:]] = (code, said.getvalue())
Path("rows.json").write_text(json.dumps(found))
"""
"""Runs the files of rows, each with the prelude's names."""


def _shown(command: str) -> str:
    """The command with its last expression printed."""
    *_, last = ast.parse(command).body
    if not isinstance(last, ast.Expr) or (isinstance(last.value, ast.Call) and ast.unparse(last.value.func) == "print"):
        return command
    lines = command.splitlines()
    head, tail = lines[: last.lineno - 1], "\n".join(lines[last.lineno - 1 :])
    return "\n".join([*head, f"{tail[: last.col_offset]}print({tail[last.col_offset :]})"])


def _ended(arguments: list[str], folder: Path) -> Ended:
    path = os.pathsep.join([str(ROOT), *filter(None, [os.environ.get("PYTHONPATH")])])
    done = warm.run([sys.executable, *arguments], cwd=folder, env={**os.environ, "PYTHONPATH": path})
    return Ended(done.returncode, (done.stdout + done.stderr).decode(errors="replace"))
