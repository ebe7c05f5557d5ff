"""A parsed file and its functions. Nothing of it is run."""

from __future__ import annotations

import ast
import warnings
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

from fleet.core.file_kinds import refuse_foreign
from fleet.errors import SourceError
from fleet.frontend.reading.errors import SourceText

MAX_SOURCE_BYTES = 4 << 20
_OWN = ("python", "text", "empty", "unknown")
"""Kinds of files that are read as Python: what is wrong with them their parser says."""


@dataclass
class SourceModule:
    """What the front end knows of a file.

    Attributes:
        functions: functions defined at the top level, by name (the last definition, as in Python).
    """

    source: SourceText
    tree: ast.Module
    functions: dict[str, ast.FunctionDef] = field(default_factory=dict)
    _checked: set[int] = field(default_factory=set)

    def check_function(self, function: ast.FunctionDef) -> None:
        """Refuse coroutines, which a call cannot follow."""
        if id(function) in self._checked:
            return
        for node in ast.walk(function):
            if isinstance(node, ast.Await):
                self.source.fail("F502", node, "a coroutine is not supported", "make it a function")
        self._checked.add(id(function))

    def body(self) -> Sequence[ast.stmt]:
        """The script: top-level statements without imports and definitions."""
        return [s for s in self.tree.body if not isinstance(s, ast.Import | ast.ImportFrom | ast.FunctionDef | ast.ClassDef)]

    def statements(self) -> Sequence[ast.stmt]:
        """What of the script does anything: its body without texts that stand alone."""
        return [s for s in self.body() if not (isinstance(s, ast.Expr) and isinstance(s.value, ast.Constant))]


def parse(text: str, name: str, shown: str = "") -> SourceModule:
    """Parse a file's text. shown: as in `SourceText`. Raises SourceError if it is not Python, or nested too deeply."""
    source = SourceText(text, name, shown)
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            tree = ast.parse(text)
            compile(tree, name, "exec", dont_inherit=True)  # for the errors that only its symbol table finds; never run
    except SyntaxError as error:
        raise source.error(error.lineno or 1, max(error.offset or 1, 1), f"not Python: {error.msg}", code="F101") from None
    except (ValueError, OverflowError, SystemError) as error:
        raise SourceError(f"not Python: {error}", where=name, code="F101") from None
    except (RecursionError, MemoryError):
        raise SourceError(
            "nested too deeply to be parsed", where=name, hint="split it over several assignments", code="F602"
        ) from None
    functions = {s.name: s for s in tree.body if isinstance(s, ast.FunctionDef)}
    return SourceModule(source, tree, functions)


def source_text(path: str) -> str:
    """The text of a Python file. Raises SourceError, and ModelError for a file of another kind."""
    file = Path(path)
    refuse_foreign(file, "a Python source, an ONNX model or a bytecode file", _OWN)
    try:
        if file.stat().st_size > MAX_SOURCE_BYTES:
            raise SourceError(f"larger than {MAX_SOURCE_BYTES} bytes", where=path, hint="split it; weights belong into a .npz")
        return file.read_bytes().decode("utf-8-sig")
    except (OSError, ValueError) as error:
        reason = error.strerror if isinstance(error, OSError) and error.strerror else str(error)
        raise SourceError(f"cannot be read ({reason})", where=path, hint="a model is given as path.py:function") from None
