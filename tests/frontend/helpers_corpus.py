"""The corpus of programs as strangers write them (`corpus/`): what each takes, and what CPython gives for it.

The first line of a program with a model's function declares its arguments: `# fit(X: float64[40, 3], y: int64[40] index)`; a
program without is a script, which prints. A line `#! CODE: why` says that the front end refuses it, `#! order: why` that NumPy
leaves its result open.
"""

from __future__ import annotations

import contextlib
import io
import re
import sys
import types
import warnings
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from unittest.mock import patch

import numpy as np
from helpers_uses import drawn

from fleet.engines._cpython_child import StandIns
from fleet.frontend.source import load
from fleet.targets.bytecode import VM, ByteCodeConverter

FOLDER = Path(__file__).parent / "corpus"
_HEAD = re.compile(r"# (\w+)\((.*)\)\Z")
_ARGUMENT = re.compile(r"(\w+): (\w+)\[([\d, ]*)\] ?(\w*)")
_MARK = re.compile(r"^#! (\w+): (.*)$", re.M)


@dataclass(frozen=True)
class Program:
    """A program of the corpus.

    Attributes:
        function: the model's; None for a script.
        inputs: its arguments.
        refused: the code of the error by which the front end refuses it, "order", or "".
        reason: why.
    """

    path: Path
    function: str | None
    inputs: Mapping[str, np.ndarray]
    refused: str
    reason: str

    @property
    def spec(self) -> str:
        """What names it to the front end."""
        return f"{self.path}:{self.function}" if self.function else str(self.path)


def corpus(folder: Path = FOLDER) -> list[Program]:
    """All programs of a folder, by name."""
    return [_opened(path) for path in sorted(folder.glob("*.py"))]


def by_vm(program: Program) -> tuple[list[np.ndarray], str]:
    """What the VM returns, flat, and what it prints. SourceError if the front end refuses the program."""
    compiled = load(program.spec, {}, program.inputs)
    compiled.module.verify()
    printed = io.StringIO()
    vm = VM(ByteCodeConverter(compiled).convert(), echo=lambda *v, end="\n": print(*v, end=end, file=printed))
    return list(vm.run(program.inputs).values()), printed.getvalue()


def _opened(path: Path) -> Program:
    text = path.read_text()
    head = _HEAD.match(text.splitlines()[0])
    mark = _MARK.search(text)
    inputs: dict[str, np.ndarray] = {}
    for name, dtype, shape, kind in _ARGUMENT.findall(head[2]) if head else ():
        inputs[name] = drawn(np.dtype(dtype), tuple(int(n) for n in shape.split(",") if n.strip()), kind, sum(map(ord, name)))
    return Program(path, head[1] if head else None, inputs, mark[1] if mark else "", mark[2] if mark else "")


def by_python(program: Program) -> tuple[list[np.ndarray], str]:
    """What CPython returns, flat, and what it prints, run without arguments; only for programs that are committed."""
    printed = io.StringIO()
    name = "corpus_program"
    namespace: dict[str, Any] = {"__name__": name if program.function else "__main__"}
    sys.modules[name] = types.ModuleType(name)  # dataclasses look it up
    code = compile(program.path.read_text(), program.path.name, "exec")
    argv = [program.path.name]
    with contextlib.redirect_stdout(printed), warnings.catch_warnings(), np.errstate(), np.printoptions():
        warnings.simplefilter("ignore")
        with patch.object(sys, "argv", argv), stand_ins(), contextlib.suppress(SystemExit):
            exec(code, namespace)
        if program.function is None:
            return [], printed.getvalue()
        printed.seek(0)
        printed.truncate()
        returned = namespace[program.function](**{k: v.copy() for k, v in program.inputs.items()})
    return leaves(returned), printed.getvalue()


@contextlib.contextmanager
def stand_ins() -> Iterator[None]:
    """Let a program import what engine `cpython` has in place of libraries that draw or log."""
    finder = StandIns()
    kept = {name: module for name, module in sys.modules.items() if finder.find_spec(name) is None}
    with patch.dict(sys.modules, kept, clear=True), patch.object(sys, "meta_path", [finder, *sys.meta_path]):
        yield


def leaves(value: Any) -> list[np.ndarray]:
    """The arrays of nested tuples, dicts and lists of arrays; a list of numbers is one array."""
    if isinstance(value, dict):
        value = tuple(value.values())
    if isinstance(value, tuple) or (isinstance(value, list) and any(not np.isscalar(v) for v in value)):
        return [leaf for v in value for leaf in leaves(v)]
    return [np.asarray(value)]
