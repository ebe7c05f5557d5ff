"""A parsed file and its functions. Nothing of it is run."""

from __future__ import annotations

import ast
import warnings
from collections.abc import Sequence
from dataclasses import dataclass, field

from fleet.errors import SourceError
from fleet.frontend.reading.errors import SourceText

MAX_SOURCE_BYTES = 4 << 20


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

    def check_function(self, function: ast.FunctionDef, *, decorated: bool = False) -> None:
        """Refuses what a call cannot follow: decorators (unless `decorated`: they have been applied already), coroutines."""
        if id(function) in self._checked:
            return
        for decorator in () if decorated else function.decorator_list:
            what = f"`{function.name}` is decorated, which may change what it means"
            self.source.fail("F508", decorator, what, "remove the decorator")
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


def parse(text: str, name: str) -> SourceModule:
    """Parse a file's text. Raises SourceError if it is not Python, or nested too deeply."""
    source = SourceText(text, name)
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
