"""Mutants of Python: what is changed, what is left alone, and that a fresh process runs the change without a file being touched."""

from __future__ import annotations

import ast
import subprocess
import sys
from pathlib import Path

import pytest

from fleet.cosim.mutation.outside import Outside, pytest_command
from fleet.cosim.mutation.python_hook import environment
from fleet.cosim.mutation.python_sites import changed, changes

SOURCE = '''"""Text 1 + 1."""
from typing import TYPE_CHECKING

__all__ = ["f"]
LIMIT: int = 3


def f(a: int, b: int = 2) -> int:
    """No change here: 1 + 2."""
    if a < 0 and b:
        raise ValueError(f"{a + 1} is below {b - 1}")
    total = 0
    for i in range(a):
        if i == b:
            continue
        total += max(i, b)
    return total
'''


def test_every_kind_of_change_is_made_where_it_means_something() -> None:
    found = {(c.operator, c.before, c.after) for c in changes(SOURCE)}
    assert ("relational", "a < 0", "(a) <= (0)") in found
    assert ("boolean", "a < 0 and b", "((a < 0) or (b))") in found
    assert ("range", "a", "(a) - 1") in found
    assert ("arguments", "i, b", "b, i") in found
    assert ("removed", "continue", "pass") in found
    assert ("removed", "total += max(i, b)", "pass") in found
    assert ("constant", "3", "4") in found
    assert ("constant", "2", "1") in found
    assert ("relational", "i == b", "(i) != (b)") in found


def test_messages_annotations_and_docstrings_stay() -> None:
    lines = SOURCE.splitlines()
    for c in changes(SOURCE):
        assert "raise" not in lines[c.line - 1]
        assert '"""' not in lines[c.line - 1]
        assert "__all__" not in lines[c.line - 1]


@pytest.mark.parametrize("file", ["fleet/isa/conformance.py", "fleet/transforms/cse.py", "fleet/isa/hbm0923/arithmetic.py"])
def test_every_change_of_a_real_file_is_another_program(file: str) -> None:
    source = Path(file).read_text()
    before = ast.dump(ast.parse(source))
    found = changes(source)
    assert found
    for c in found:
        assert source[c.start : c.end] == c.before
        assert ast.dump(ast.parse(changed(source, c))) != before, c


def _project(folder: Path) -> Path:
    (folder / "mine.py").write_text("def f(a):\n    return a + 1\n")
    (folder / "test_mine.py").write_text("import subprocess, sys\nfrom mine import f\n\n\ndef test_f():\n    assert f(1) == 2\n")
    return folder / "mine.py"


def test_a_process_and_those_that_it_starts_run_the_change(tmp_path: Path) -> None:
    file = _project(tmp_path)
    (c,) = [c for c in changes(file.read_text()) if c.operator == "arithmetic"]
    variables = environment(file, c.start, c.end, c.before, c.after)
    inner = "import mine; print(mine.f(1))"
    outer = f"import subprocess, sys, mine; print(mine.f(1)); subprocess.run([sys.executable, '-c', {inner!r}], check=True)"
    command = [sys.executable, "-c", f"import sys; sys.path.insert(0, {str(tmp_path)!r}); {outer}"]
    variables["PYTHONPATH"] += f":{Path.cwd()}:{tmp_path}"
    done = subprocess.run(command, env=variables, capture_output=True, text=True, check=True)
    assert done.stdout.split() == ["0", "0"]
    assert file.read_text() == "def f(a):\n    return a + 1\n"
    assert not list(tmp_path.rglob("*.pyc"))


def test_pytest_runs_the_change_too(tmp_path: Path) -> None:
    """Its own loader, which rewrites assertions, would otherwise take modules of plug-ins from the mutant's."""
    file = _project(tmp_path)
    (c,) = [c for c in changes(file.read_text()) if c.operator == "arithmetic"]
    variables = environment(file, c.start, c.end, c.before, c.after)
    variables["PYTHONPATH"] += f":{Path.cwd()}"
    run = Outside(tmp_path).run
    command = pytest_command([tmp_path / "test_mine.py"])
    assert run("tests", command, variables)[0].endswith("test_mine.py::test_f")
    del variables["FLEET_PYTHON_MUTANT"]
    assert run("tests", command, variables) == ("", "")


def test_what_hangs_is_found(tmp_path: Path) -> None:
    command = [sys.executable, "-c", "import time; time.sleep(60)"]
    test, how = Outside(tmp_path).run("it", command, {}, 0.3)
    assert test == "it"
    assert "does not end" in how
