"""A corpus of programs, from simple to nasty: CPython, fleet's VM and the AST interpreter print the same text."""

from __future__ import annotations

import contextlib
import io
import warnings
from pathlib import Path

import numpy as np
import pytest

from fleet.frontend.interpreter import run
from fleet.frontend.source import load
from fleet.targets.bytecode import VM, ByteCodeConverter

PROGRAMS = sorted((Path(__file__).parent / "programs").glob("*.py"))


def by_python(path: Path) -> str:
    """What CPython prints; only for programs of this folder."""
    printed = io.StringIO()
    code = compile(path.read_text(encoding="utf-8"), path.name, "exec")
    with contextlib.redirect_stdout(printed), warnings.catch_warnings(), np.errstate(all="ignore"), np.printoptions():
        warnings.simplefilter("ignore")
        with contextlib.suppress(SystemExit):
            exec(code, {"__name__": "__main__"})
    return printed.getvalue()


def by_vm(path: Path) -> str:
    printed = io.StringIO()
    program = load(str(path), {}, {})
    program.module.verify()
    vm = VM(ByteCodeConverter(program).convert(), echo=lambda *v, end="\n": print(*v, end=end, file=printed))
    vm.run()
    return printed.getvalue()


def test_there_are_many() -> None:
    assert len(PROGRAMS) >= 80


@pytest.mark.parametrize("path", PROGRAMS, ids=lambda p: p.stem)
def test_vm_prints_what_python_prints(path: Path) -> None:
    assert by_vm(path) == by_python(path)


@pytest.mark.parametrize("path", PROGRAMS, ids=lambda p: p.stem)
def test_the_interpreter_prints_what_python_prints(path: Path) -> None:
    assert run(str(path)).printed == by_python(path)
