"""A parsed file: its functions, imports and globals. Only `ast` looks at it."""

from __future__ import annotations

import ast
import warnings
from collections.abc import Sequence
from dataclasses import dataclass, field

from fleet.errors import SourceError
from fleet.frontend._errors import Source

MAX_SOURCE_BYTES = 4 << 20


@dataclass
class Module:
    """What the front end knows of a file.

    Attributes:
        functions: functions defined at the top level, by name (the last definition, as in Python).
        imports: local name -> dotted path ("np" -> "numpy"), also of libraries that are not supported.
        globals: name -> the expression of its only assignment; None where it is not that simple.
    """

    source: Source
    tree: ast.Module
    functions: dict[str, ast.FunctionDef] = field(default_factory=dict)
    imports: dict[str, str] = field(default_factory=dict)
    globals: dict[str, ast.expr | None] = field(default_factory=dict)

    def check_function(self, function: ast.FunctionDef) -> None:
        """Refuses what a call cannot follow: decorators, *args, **kwargs, generators."""
        for decorator in function.decorator_list:
            self.source.fail(decorator, f"`{function.name}` is decorated, which may change what it means", "remove the decorator")
        for starred in (function.args.vararg, function.args.kwarg):
            if starred is not None:
                self.source.fail(starred, "* and ** parameters are not supported", "name every argument")
        for node in ast.walk(function):
            if isinstance(node, ast.Yield | ast.YieldFrom | ast.Await):
                self.source.fail(node, "a generator or coroutine is not supported", "return a value")

    def body(self) -> Sequence[ast.stmt]:
        """The script: top-level statements without imports and function definitions."""
        return [s for s in self.tree.body if not isinstance(s, ast.Import | ast.ImportFrom | ast.FunctionDef)]

    def statements(self) -> Sequence[ast.stmt]:
        """What of the script does anything: its body without texts that stand alone."""
        return [s for s in self.body() if not (isinstance(s, ast.Expr) and isinstance(s.value, ast.Constant))]


def parse(text: str, name: str) -> Module:
    """Parses a file's text. Raises SourceError for what is not Python."""
    source = Source(text, name)
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            tree = ast.parse(text)
    except SyntaxError as error:
        raise source.error(error.lineno or 1, max(error.offset or 1, 1), f"not Python: {error.msg}", code="F101") from None
    except ValueError as error:
        raise SourceError(f"not Python: {error}", where=name, code="F101") from None
    except (RecursionError, MemoryError):
        raise SourceError(
            "nested too deeply to be parsed", where=name, hint="split it over several assignments", code="F602"
        ) from None
    module = Module(source, tree)
    for statement in tree.body:
        _collect(module, statement)
    return module


def _collect(module: Module, statement: ast.stmt) -> None:
    match statement:
        case ast.FunctionDef():
            module.functions[statement.name] = statement
        case ast.Import():
            for alias in statement.names:
                module.imports[alias.asname or alias.name.split(".")[0]] = alias.name if alias.asname else alias.name.split(".")[0]
        case ast.ImportFrom():
            for alias in statement.names:
                module.imports[alias.asname or alias.name] = f"{'.' * statement.level}{statement.module or ''}.{alias.name}"
        case ast.Assign(targets=[ast.Name() as target]):
            module.globals[target.id] = statement.value if target.id not in module.globals else None
        case ast.AnnAssign(target=ast.Name() as target, value=ast.expr()):
            module.globals[target.id] = statement.value if target.id not in module.globals else None
        case _:
            for node in ast.walk(statement):
                if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
                    module.globals[node.id] = None
