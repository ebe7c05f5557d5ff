"""Runs programs on a changed front end. Each change runs in a process forked from one that has imported everything.

A change inside functions replaces their code in that process. If the changed code runs at import (tables, defaults, classes, and
functions that build tables), fleet is imported again with the change.
"""

from __future__ import annotations

import gc
import importlib
import multiprocessing
import os
import re
import resource
import signal
import sys
from collections.abc import Iterator, Mapping, Sequence, Set
from dataclasses import dataclass
from inspect import CO_OPTIMIZED
from multiprocessing.connection import Connection
from pathlib import Path
from types import CodeType, FrameType, FunctionType
from typing import Any

from fleet.verify.mutation.python_hook import mutate
from fleet.verify.mutation.python_sites import TextEdit, changed
from fleet.verify.programs import oracle
from fleet.verify.programs.oracle import ByCPython, ProgramOutcome
from fleet.verify.programs.parts.values import ProgramArray

_PATIENCE_S = 10.0
"""Processor seconds allowed for one program; it usually takes 10 ms."""
_MEMORY = 6 << 30
_PLACE = re.compile(r"[^\s'\"]*model\.py(?::(\d+))?")

Told = list[str | int]
"""The compared part of an outcome: kind, cause, then names, or the lines of a refusal and its text."""


@dataclass(frozen=True)
class Ready:
    """A program with CPython's result and its outcome without a change."""

    number: int
    source: str
    arrays: Mapping[str, ProgramArray]
    weights: tuple[str, ...]
    ran: ByCPython
    before: Told


@dataclass(frozen=True)
class ChangeVerdict:
    """Verdict of programs on a change.

    by: "results", "refusal" (one more or one less), "place" (code or lines), "names" (of operations), "text"; empty if no program
    finds it.
    """

    by: str
    said: str
    programs: int


def told(outcome: ProgramOutcome) -> Told:
    """Return the compared part of an outcome."""
    if outcome.kind != "refused":
        return [outcome.kind, outcome.cause, " ".join(outcome.named)]
    return [outcome.kind, outcome.cause, " ".join(_PLACE.findall(outcome.said)), _PLACE.sub("model.py", outcome.said)]


def find(change: TextEdit | None, file: Path, imported: Set[int], programs: Sequence[Ready]) -> ChangeVerdict:
    """Run programs with a file changed until the outcome of one differs.

    imported: lines of the file that run when fleet is imported.
    """
    ours, theirs = multiprocessing.Pipe(duplex=False)
    process = multiprocessing.get_context("fork").Process(
        target=_look, args=(change, file, imported, programs, theirs), daemon=True
    )
    process.start()
    theirs.close()
    try:
        return ChangeVerdict(*ours.recv())
    except EOFError:
        process.join()
        return ChangeVerdict("results", f"the process ends with {process.exitcode}", 0)
    finally:
        ours.close()
        process.join()


def _look(change: TextEdit | None, file: Path, imported: Set[int], programs: Sequence[Ready], answer: Connection) -> None:
    """Main function of the forked process. It answers with plain values, because it may have imported fleet again."""
    number = 0

    def late(_signal: int, _frame: FrameType | None) -> None:
        answer.send(("results", f"program {programs[number].number} does not end in {_PATIENCE_S:g} s", number + 1))
        os._exit(0)

    signal.signal(signal.SIGPROF, late)
    resource.setrlimit(resource.RLIMIT_AS, (_MEMORY, _MEMORY))
    gc.disable()
    own = oracle
    if change is not None and not _replaced(change, file, imported):
        try:
            own = _imported(change, file)
        except Exception as error:
            answer.send(("results", f"cannot be imported: {type(error).__name__}: {error}", 0))
            return
    with own.ProgramOracle() as runs:
        for number, ready in enumerate(programs):
            signal.setitimer(signal.ITIMER_PROF, _PATIENCE_S)
            ran = own.ByCPython(ready.ran.results, ready.ran.variables, ready.ran.printed)
            outcome = runs.compare(own.ComparedProgram(ready.source, ready.arrays, ready.weights), ran)
            by = _by(ready.before, told(outcome))
            if by:
                said = f"{' '.join(map(str, told(outcome)))} instead of {' '.join(map(str, ready.before))}: {outcome.said}"
                answer.send((by, f"program {ready.number}: {' '.join(said.split())}", number + 1))
                return
    answer.send(("", "", len(programs)))


def _by(before: Told, after: Told) -> str:
    if before == after:
        return ""
    if "differs" in (before[0], after[0]):
        return "results"
    if before[0] != after[0]:
        return "refusal"
    if after[0] == "agreed":
        return "names"
    return "place" if before[:3] != after[:3] else "text"


# The change.


def forget_fleet() -> None:
    """Make the next import of any module of fleet load it again."""
    for name in [n for n in sys.modules if n.partition(".")[0] == "fleet"]:
        del sys.modules[name]


def _imported(change: TextEdit, file: Path) -> Any:
    """Import fleet with the change and return its module `oracle`."""
    forget_fleet()
    mutate(file, change.start, change.end, change.before, change.after)
    return importlib.import_module(oracle.__name__)


def _replaced(change: TextEdit, file: Path, imported: Set[int]) -> bool:
    """Replace the code of all live functions that the change affects. False if that would not apply the whole change."""
    source = file.read_text(encoding="utf-8")
    codes = [_codes(compile(text, str(file), "exec", dont_inherit=True)) for text in (source, changed(source, change))]
    if len(codes[0]) != len(codes[1]):
        return False
    replaced: dict[CodeType, CodeType] = {}
    for old, new in zip(*codes, strict=True):
        if old.co_flags & CO_OPTIMIZED:
            if old != new:
                replaced[old] = new
        elif _own(old) != _own(new):
            return False
    if not replaced or any(imported & _lines(old) for old in replaced):
        return False
    name = str(file)
    live = [f for f in gc.get_objects() if isinstance(f, FunctionType) and f.__code__.co_filename == name]
    found = {f.__code__ for f in live}
    if not all(old in found for old in replaced if "<locals>" not in old.co_qualname):
        return False
    for f in live:
        if f.__code__ in replaced:
            f.__code__ = replaced[f.__code__]
    return True


def _codes(code: CodeType) -> list[CodeType]:
    """Return all code objects of a module, its own first."""
    return [code, *(inner for c in code.co_consts if isinstance(c, CodeType) for inner in _codes(c))]


def _own(code: CodeType) -> tuple[Any, ...]:
    """Return the code that a module or a class runs itself, without its definitions."""
    constants = ["code" if isinstance(c, CodeType) else repr(c) for c in code.co_consts]
    return code.co_code, code.co_names, code.co_varnames, constants


def _lines(code: CodeType) -> set[int]:
    """Return the line numbers of a function's body."""
    return set(_numbers(code)) - {code.co_firstlineno}


def _numbers(code: CodeType) -> Iterator[int]:
    for _, _, line in code.co_lines():
        if line is not None:
            yield line
