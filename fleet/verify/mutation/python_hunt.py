"""Checks mutants of the functional model and the compiler with streams, the set's own check, tests and cases.

Every check runs in a fresh process (`fleet.verify.mutation.python_hook`), the cheapest first: recorded streams for the functional
model, tests of the mirrored folder for passes.
"""

from __future__ import annotations

import os
import re
import time
from collections.abc import Iterable, Iterator, Mapping, Sequence, Set
from dataclasses import dataclass
from itertools import islice
from pathlib import Path

from fleet.core.cache import cache_root
from fleet.core.scratch import Scratch
from fleet.isa.closure import semantics_files
from fleet.sdk import InstructionSet
from fleet.verify.mutation.child import HostChecks
from fleet.verify.mutation.mutant import Mutant, MutantResult, Over, identified
from fleet.verify.mutation.outside import Outside, pytest_command
from fleet.verify.mutation.python_hook import environment
from fleet.verify.mutation.python_sites import TextEdit, changes

_SHARED = ("fleet/transforms", "fleet/targets/accel")
_NOT_COMPILED = {"conformance", "rtl", "rtl_tables", "error_model", "__init__"}
"""Modules of a set's package that are not compiler: they draw cases, list hardware or state bounds."""
_NAMING = ("verify/mutation", "docs", "test_architecture.py")
"""Tests below `tests` that name modules without testing them."""
_CHECK_DRAWS = 8
_PATIENCE_S = 3600.0


@dataclass(frozen=True)
class PythonMutants:
    """Mutants, and the change of each by id. root: base of the file paths."""

    root: Path
    mutants: tuple[Mutant, ...]
    changes: Mapping[str, TextEdit]


def python_mutants(instruction_set: InstructionSet, over: Over, root: Path) -> PythonMutants:
    """Return all mutants of one part, by file.

    "semantics": files of the set's package that enter the description's hash. "passes": the compiler files of the package,
    `fleet/transforms` and `fleet/targets/accel`.
    """
    package = instruction_set.description.parent
    semantics = {m.path for m in semantics_files(instruction_set) if m.path.is_relative_to(package)}
    if over == "semantics":
        files = sorted(semantics)
    else:
        others = (p for p in package.rglob("*.py") if p not in semantics)
        own = {p for p in others if not _NOT_COMPILED & set(p.relative_to(package).with_suffix("").parts)}
        files = [*sorted(own), *(p for folder in _SHARED for p in sorted((root / folder).rglob("*.py")))]
    found: list[tuple[Path, TextEdit, str]] = []
    for file in files:
        source = file.read_text(encoding="utf-8")
        lines = source.splitlines()
        found += [(file, c, lines[c.line - 1].strip()) for c in changes(source)]
    mutants = identified(
        (over, str(f.relative_to(root)) if f.is_relative_to(root) else str(f), c.line, c.unit, c.operator, c.before, c.after, line)
        for f, c, line in found
    )
    return PythonMutants(root, tuple(mutants), {m.id: c for m, (_, c, _) in zip(mutants, found, strict=True)})


def _importing(files: Iterable[Path], modules: Set[str]) -> list[Path]:
    """Return the files with a line that imports one of the modules."""
    if not modules:
        return []
    pattern = re.compile(rf"^ *(?:from|import) (?:{'|'.join(map(re.escape, sorted(modules)))})\b", re.MULTILINE)
    return [p for p in files if pattern.search(p.read_text(encoding="utf-8"))]


class PythonHunt:
    """Checks Python mutants of a device's set. Processes have their own cache: compiled kernels are cached by their source."""

    def __init__(
        self, device: str, recorded: Path, root: Path, cases: Sequence[Path], before: Mapping[str, str] | None = None,
        equivalent: Set[str] = frozenset(),
    ) -> None:  # fmt: skip
        """recorded: from `recordings.recorded`; root: the project, whose `tests` mirror `fleet`; cases: of the device.

        before: mutant -> the test that found it before, which runs first. equivalent: mutants for which only the first stage runs.
        """
        self._device, self._recorded, self._root, self._cases = device, recorded, root, cases
        self._before, self._equivalent = dict(before or {}), equivalent
        self._outside = Outside(root)

    def unchanged(self, mutants: Sequence[Mutant]) -> tuple[str, str]:
        """Run all checks of these mutants on the unchanged program. Return (test, message) of a failure, or ("", "").

        Tests of a folder run together, so the known time is an upper bound for each of them.
        """
        commands: dict[str, list[str]] = {}
        files: dict[Path, set[Path]] = {}
        for mutant in mutants:
            for name, command in self._stages(mutant):
                tests = [Path(a) for a in command if a.endswith(".py")]
                for t in tests:
                    files.setdefault(t.parent, set()).add(t)
                if not tests:
                    commands[name] = command
        for folder, tests in sorted(files.items()):
            commands[str(folder.relative_to(self._root))] = pytest_command(sorted(tests))
        with Scratch("mutant") as folder:
            variables = self._variables(None, None, folder)
            for name, command in commands.items():
                test, how = self._outside.run(name, command, variables, _PATIENCE_S)
                if test:
                    return test, how
        return "", ""

    def look(self, mutant: Mutant, change: TextEdit) -> MutantResult:
        """Check a mutant. A test that does not end counts as a finding."""
        began, tests = time.monotonic(), 0
        with Scratch("mutant") as folder:
            variables = self._variables(mutant, change, folder)
            stages = islice(self._stages(mutant), 1 if mutant.id in self._equivalent else None)
            for name, command in stages:
                tests += 1
                test, how = self._outside.run(name, command, variables)
                if test:
                    return MutantResult(
                        mutant, "found", test, how.replace(f"{self._root}{os.sep}", ""), tests, time.monotonic() - began
                    )
        return MutantResult(mutant, "survived", "", "", tests, time.monotonic() - began)

    def _variables(self, mutant: Mutant | None, change: TextEdit | None, folder: Path) -> dict[str, str]:
        cache = folder / "cache"
        cache.mkdir()
        real = cache_root()
        for part in ("rtl", "models"):
            if (real / part).is_dir():
                (cache / part).symlink_to(real / part)
        if mutant is None or change is None:
            base = dict(os.environ)
        else:
            file = Path(mutant.file)
            base = environment(
                file if file.is_absolute() else self._root / file, change.start, change.end, change.before, change.after
            )
        mine = {"FLEET_CACHE": str(cache), "PYTHONDONTWRITEBYTECODE": "1", "HYPOTHESIS_STORAGE_DIRECTORY": str(folder / "drawn")}
        return {**base, **mine}

    def _stages(self, mutant: Mutant) -> Iterator[tuple[str, list[str]]]:
        tests = list(self._tests(Path(mutant.file)))
        model = HostChecks(self._device, str(self._recorded), _CHECK_DRAWS).command
        cases = HostChecks(self._device, cases=tuple(str(c) for c in self._cases)).command
        known = self._root / self._before.get(mutant.id, "").partition("::")[0]
        if known.is_file():
            yield "what found it before", pytest_command([known])
        if mutant.over == "semantics":
            yield "streams", model
        if tests:
            yield "the nearest tests", pytest_command(tests[0])
        if self._cases:
            yield "cases", cases
        if mutant.over == "passes":
            yield "streams", model
        for files in tests[1:]:
            yield "the folder's tests", pytest_command(files)
        if others := self._elsewhere(mutant, {p for files in tests for p in files}):
            yield "tests elsewhere", pytest_command(others)

    def _elsewhere(self, mutant: Mutant, done: Set[Path]) -> list[Path]:
        """Return test files of other folders that import the module; if there are none, those that import it indirectly.

        For a set's own compiler also the tests of targets that compile for the device.
        """
        file = Path(mutant.file)
        if file.is_absolute() or file.parts[0] != "fleet":
            return []
        tests = [p for p in sorted((self._root / "tests").rglob("test_*.py")) if not self._only_named(p)]
        own: list[Path] = []
        if mutant.over == "passes" and not file.is_relative_to("fleet/transforms"):
            word = re.compile(rf"\b{re.escape(self._device)}\b")
            targets = (p for p in tests if p.is_relative_to(self._root / "tests" / "targets"))
            own += (p for p in targets if word.search(p.read_text(encoding="utf-8")))
        found = _importing(tests, {".".join(file.with_suffix("").parts)})
        if not found:
            users = _importing(sorted((self._root / "fleet").rglob("*.py")), {".".join(file.with_suffix("").parts)})
            names = {".".join(p.relative_to(self._root).with_suffix("").parts) for p in users}
            found = _importing(tests, {n for n in names if not n.startswith("fleet.cli")})
        return [p for p in dict.fromkeys((*found, *own)) if p not in done]

    def _only_named(self, test: Path) -> bool:
        return any(test.is_relative_to(self._root / "tests" / n) for n in _NAMING)

    def _tests(self, file: Path) -> Iterator[list[Path]]:
        """Yield test files of the mirrored folder, those that share a word with the module's name first."""
        if file.is_absolute() or file.parts[0] != "fleet":
            return
        folder = self._root.joinpath("tests", *file.parts[1:-1])
        while not folder.is_dir() and folder != self._root / "tests":
            folder = folder.parent
        there = sorted(folder.glob("test_*.py"))
        words = set(file.stem.strip("_").split("_"))
        near = [p for p in there if words & set(p.stem.split("_")[1:])]
        if near:
            yield near
        rest = [p for p in there if p not in near]
        if rest and folder != self._root / "tests":
            yield rest
