"""Mutants of Python: what is changed, what is left alone, and that a fresh process runs the change without a file being touched."""

from __future__ import annotations

import ast
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from fleet.verify.mutation.mutant import Mutant
from fleet.verify.mutation.outside import Outside, pytest_command
from fleet.verify.mutation.python_hook import environment
from fleet.verify.mutation.python_hunt import PythonHunt
from fleet.verify.mutation.python_sites import changed, changes

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
    assert found >= {
        ("relational", "a < 0", "(a) <= (0)"),
        ("boolean", "a < 0 and b", "((a < 0) or (b))"),
        ("range", "a", "(a) - 1"),
        ("arguments", "i, b", "b, i"),
        ("removed", "continue", "pass"),
        ("removed", "total += max(i, b)", "pass"),
        ("constant", "3", "4"),
        ("constant", "2", "1"),
        ("relational", "i == b", "(i) != (b)"),
    }


def test_messages_annotations_and_docstrings_stay() -> None:
    lines = SOURCE.splitlines()
    for c in changes(SOURCE):
        assert "raise" not in lines[c.line - 1]
        assert '"""' not in lines[c.line - 1]
        assert "__all__" not in lines[c.line - 1]


@pytest.mark.parametrize(
    "file", ["fleet/isa/conformance.py", "fleet/transforms/simplify/cse.py", "fleet/sets/hbm0923/numerics/mvm.py"]
)
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


TESTS = {
    "tests/transforms/test_fold.py": "from fleet.transforms.fold import f\n",
    "tests/transforms/test_other.py": "",
    "tests/engines/test_iss.py": "    from fleet.transforms.fold import f\n",
    "tests/engines/test_text.py": "# of fleet.transforms.fold nothing is imported\n",
    "tests/targets/test_small.py": "DEVICE = 'small'\n",
    "tests/targets/test_smaller.py": "DEVICE = 'smaller'\n",
    "tests/docs/test_names.py": "from fleet.transforms.fold import f\n",
    "tests/frontend/test_user.py": "from fleet.frontend.user import g\n",
    "fleet/transforms/fold.py": "def f() -> int:\n    return 1 + 1\n",
    "fleet/transforms/hidden.py": "def h() -> int:\n    return 1 + 1\n",
    "fleet/isa/mine/lower.py": "def e() -> int:\n    return 1 + 1\n",
    "fleet/frontend/user.py": "from fleet.transforms.hidden import h\n",
}


def _looking(root: Path, file: str) -> list[list[str]]:
    """Test files of every stage."""
    for name, text in TESTS.items():
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).write_text(text)
    hunt = PythonHunt("small", root / "none", root, ())
    mutant = Mutant("0123456789", "passes", file, 2, "f", "arithmetic", "1 + 1", "(1) - (1)", "return 1 + 1")
    stages = [[a for a in command if a.endswith(".py")] for _, command in hunt._stages(mutant)]
    return [[str(Path(a).relative_to(root)) for a in files] for files in stages if files]


def test_the_nearest_tests_look_first_then_those_elsewhere_that_import_the_module(tmp_path: Path) -> None:
    assert _looking(tmp_path, "fleet/transforms/fold.py") == [
        ["tests/transforms/test_fold.py"], ["tests/transforms/test_other.py"], ["tests/engines/test_iss.py"]
    ]  # fmt: skip


def test_of_a_module_that_no_test_imports_those_of_its_users_look(tmp_path: Path) -> None:
    assert _looking(tmp_path, "fleet/transforms/hidden.py")[-1] == ["tests/frontend/test_user.py"]


def test_of_a_set_s_compiler_tests_look_that_compile_for_the_device(tmp_path: Path) -> None:
    assert _looking(tmp_path, "fleet/isa/mine/lower.py") == [["tests/targets/test_small.py"]]


class _OneFile(PythonHunt):
    """Each mutant is looked for by the test file of its unit."""

    def _stages(self, mutant: Mutant) -> Iterator[tuple[str, list[str]]]:
        yield "tests", pytest_command([self._root / f"test_{mutant.unit}.py"])


def test_what_looks_for_any_of_the_mutants_must_pass_without_one(tmp_path: Path) -> None:
    (tmp_path / "test_a.py").write_text("def test_a() -> None:\n    pass\n")
    (tmp_path / "test_b.py").write_text("def test_b() -> None:\n    raise AssertionError('always')\n")
    hunt = _OneFile("small", tmp_path / "none", tmp_path, ())
    one, two = (Mutant(f"{u}" * 10, "passes", "fleet/a.py", 2, u, "arithmetic", "1 + 1", "(1) - (1)", "") for u in "ab")
    assert hunt.unchanged([one]) == ("", "")
    test, how = hunt.unchanged([one, two])
    assert test.endswith("test_b.py::test_b")
    assert "always" in how
